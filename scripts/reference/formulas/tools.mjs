// Formulas of functions that are made of others, of tools and of add-ons, in plain notation (notation.mjs).

const kAllDims = "sum_d(j_d * k_d / n_d)";
const kPruned = (mask) => `w = m * w_0; m_i = ${mask}`;
const kLeast = kPruned('where(abs(w_i) <= q, 0, 1), q = "the quantile of magnitudes at" amount');
const kLeastChannels = kPruned(
  'where(norm(w_i, n) <= q, 0, 1), q = "the quantile of the channels\' norms at" amount',
);
const kAtRandom = kPruned('0 "for the share" amount "of the elements, else" 1');
const kChannelsAtRandom = kPruned('0 "for the share" amount "of the channels, else" 1');

/** By the name as the reference has it. */
export const kOfTools = {
  // Fourier transforms.
  fftn: `y_k = sum_j(x_j * exp(-2 * pi * i * ${kAllDims}))`,
  ifftn: `y_k = 1 / prod_d(n_d) * sum_j(x_j * exp(2 * pi * i * ${kAllDims}))`,
  rfftn: `y_k = sum_j(x_j * exp(-2 * pi * i * ${kAllDims})), 0 <= k_{last} <= n_{last} / 2`,
  irfftn: `y_k = 1 / prod_d(n_d) * sum_j(x_j * exp(2 * pi * i * ${kAllDims})), x_{n-j} = conj(x_j)`,
  hfftn: `y_k = sum_j(x_j * exp(-2 * pi * i * ${kAllDims})), x_{n-j} = conj(x_j)`,
  ihfftn: `y_k = 1 / prod_d(n_d) * sum_j(x_j * exp(2 * pi * i * ${kAllDims})), 0 <= k_{last} <= n_{last} / 2`,
  rfft2:
    "y[k, l] = sum_{a,b}(x[a, b] * exp(-2 * pi * i * (a * k / n + b * l / m))), 0 <= l <= m / 2",
  irfft2:
    "y[k, l] = 1 / (n * m) * sum_{a,b}(x[a, b] * exp(2 * pi * i * (a * k / n + b * l / m))), x[n - a, m - b] = conj(x[a, b])",
  hfft2:
    "y[k, l] = sum_{a,b}(x[a, b] * exp(-2 * pi * i * (a * k / n + b * l / m))), x[n - a, m - b] = conj(x[a, b])",
  ihfft2:
    "y[k, l] = 1 / (n * m) * sum_{a,b}(x[a, b] * exp(2 * pi * i * (a * k / n + b * l / m))), 0 <= l <= m / 2",
  fftshift: 'y_i = x_j, j = i - floor(n / 2) "modulo" n',
  ifftshift: 'y_i = x_j, j = i + floor(n / 2) "modulo" n',
  istft:
    "x_n = sum_m(window_{n - m * hopLength} * y[m, n - m * hopLength]) / sum_m(window_{n - m * hopLength}^2)",
  // Tensors.
  random_: 'y_i ~ "uniform on" {from, ..., to - 1}',
  randintLike: 'y_i ~ "uniform on" {low, ..., high - 1}',
  fill: "y_i = value",
  fillDiagonal_: "x[i, i] = value",
  diagflat: "y[i, j] = where(j == i + offset, x_i, 0)",
  isreal: "y_i = (imag(x_i) == 0)",
  einsum: '"for ij,jk->ik:" y[i, k] = sum_j(a[i, j] * b[j, k])',
  maxUnpool1d: 'y[indices_i] = x_i, "else" 0',
  maxUnpool2d: 'y[indices_i] = x_i, "else" 0',
  maxUnpool3d: 'y[indices_i] = x_i, "else" 0',
  "sparse.sampledAddmm":
    'y[i, j] = beta * input[i, j] + alpha * sum_k(a[i, k] * b[k, j]) "where" input "has an element"',
  "sparse.spsolve": "A @ y = b",
  // Layers.
  "nn.UpsamplingNearest2d": "y[i, j] = x[floor(i / scale), floor(j / scale)]",
  "nn.UpsamplingBilinear2d":
    "y[i, j] = (1 - a) * (1 - b) * x[p, q] + a * (1 - b) * x[p + 1, q] + (1 - a) * b * x[p, q + 1] + a * b * x[p + 1, q + 1]; p + a = i * (H - 1) / (H' - 1), q + b = j * (W - 1) / (W' - 1)",
  "nn.init.calculateGain":
    "gain(tanh) = 5 / 3, gain(relu) = sqrt(2), gain(leakyRelu) = sqrt(2 / (1 + slope^2)), gain(selu) = 3 / 4",
  "nn.init.fans": "fanIn = w_1 * prod(d=2, n, w_d), fanOut = w_0 * prod(d=2, n, w_d)",
  "nn.init.dirac_": 'w[i, i, "center"] = 1, "else" 0',
  "nn.init.sparse_": 'w[i, j] ~ N(0, std^2), "the share" sparsity "of each column is" 0',
  "nn.utils.prune.identity": kPruned("1"),
  "nn.utils.prune.Identity": kPruned("1"),
  "nn.utils.prune.customFromMask": kPruned("mask_i"),
  "nn.utils.prune.CustomFromMask": kPruned("mask_i"),
  "nn.utils.prune.l1Unstructured": kLeast,
  "nn.utils.prune.L1Unstructured": kLeast,
  "nn.utils.prune.globalUnstructured": kLeast,
  "nn.utils.prune.lnStructured": kLeastChannels,
  "nn.utils.prune.LnStructured": kLeastChannels,
  "nn.utils.prune.randomUnstructured": kAtRandom,
  "nn.utils.prune.RandomUnstructured": kAtRandom,
  "nn.utils.prune.randomStructured": kChannelsAtRandom,
  "nn.utils.prune.RandomStructured": kChannelsAtRandom,
  "amp.GradScaler":
    'g = g_{scaled} / scale; scale\' = where("all" g "are finite", scale, backoffFactor * scale)',
  "data.WeightedRandomSampler": "P(i) = w_i / sum_j(w_j)",
  // Constraints.
  "distributions.constraints.greaterThan": "x > lowerBound",
  "distributions.constraints.greaterThanEq": "x >= lowerBound",
  "distributions.constraints.lessThan": "x < upperBound",
  "distributions.constraints.interval": "lowerBound <= x <= upperBound",
  "distributions.constraints.halfOpenInterval": "lowerBound <= x < upperBound",
  "distributions.constraints.integerInterval": "x in {lowerBound, ..., upperBound}",
  "distributions.constraints.multinomial": "x_i in {0, 1, 2, ...}, sum_i(x_i) <= upperBound",
  // Metrics.
  "edgegrad/metrics.accuracy": 'accuracy = 1 / N * sum_i(where("target" i "is right", 1, 0))',
  "edgegrad/metrics.perplexity":
    "perplexity = exp(-1 / N * sum_i(log(p_i))), p_i = exp(x[i, t_i]) / sum_c(exp(x[i, c]))",
  "edgegrad/metrics.r2Score":
    "R^2 = 1 - sum_i((t_i - y_i)^2) / sum_i((t_i - bar(t))^2), bar(t) = 1 / N * sum_i(t_i)",
  "edgegrad/metrics.rocAuc":
    'AUC = P(s_p > s_n) + P(s_p == s_n) / 2, "for a positive example" p "and a negative one" n',
  "edgegrad/metrics.ConfusionMatrix":
    'C[i, j] = "the number of examples of class" i "for which" j "was predicted"; precision_i = C[i, i] / sum_j(C[j, i]), recall_i = C[i, i] / sum_j(C[i, j]); f1_i = 2 * precision_i * recall_i / (precision_i + recall_i)',
  // Training by several machines: w_k are the weights of client k, n_k its samples.
  "edgegrad/federated.meanOf": "w = sum_k(n_k * w_k) / sum_k(n_k)",
  "edgegrad/federated.FedAvg": "w_{t+1} = sum_k(n_k * w_k) / sum_k(n_k)",
  "edgegrad/federated.FedProx":
    "w_{t+1} = sum_k(n_k * w_k) / sum_k(n_k); w_k = argmin_w(loss_k(w) + mu / 2 * norm(w - w_t)^2)",
  "edgegrad/federated.FedAdam":
    "d_t = bar(w) - w_t, m_t = beta_1 * m_{t-1} + (1 - beta_1) * d_t; v_t = beta_2 * v_{t-1} + (1 - beta_2) * d_t^2, w_{t+1} = w_t + lr * m_t / (sqrt(v_t) + tau)",
  "edgegrad/federated.FedYogi":
    "d_t = bar(w) - w_t, m_t = beta_1 * m_{t-1} + (1 - beta_1) * d_t; v_t = v_{t-1} - (1 - beta_2) * d_t^2 * sign(v_{t-1} - d_t^2), w_{t+1} = w_t + lr * m_t / (sqrt(v_t) + tau)",
  "edgegrad/federated.Median": "w_{t+1} = median_k(w_k)",
  "edgegrad/federated.TrimmedMean":
    'w_{t+1} = "mean of" w_k "without the lowest and highest" share',
  "edgegrad/federated.Krum":
    'w_{t+1} = w_k "with the smallest" sum_{j in nearest_k}(norm(w_k - w_j)^2)',
  "edgegrad/distributed.allReduce": "y = sum(r=0, R - 1, x_r)",
  "edgegrad/distributed.DistributedDataParallel": "g = 1 / R * sum(r=0, R - 1, g_r)",
  // Models.
  "edgegrad/peft.LoraConfig": "y = W @ x + loraAlpha / r * B @ A @ x",
  "edgegrad/vis.pca": 'y = (x - bar(x)) @ V, V = "the eigenvectors of the largest variances"',
};
