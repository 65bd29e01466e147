// Formulas of layers, optimizers and schedulers in plain notation (notation.mjs). A layer whose function has a formula needs none here.

/** By the name of the class in its namespace. */
export const kOfLayers = {
  "nn.Identity": "y = x",
  "nn.Linear": "y = x @ W^T + b",
  "nn.LazyLinear": "y = x @ W^T + b",
  "nn.Embedding": "y_i = weight[x_i]",
  "nn.EmbeddingBag": "y_b = 1 / n_b * sum_{i in bag_b}(weight[x_i])",
  "nn.AlphaDropout":
    "y_i = a * where(u_i < p, alpha', x_i) + b, alpha' = -1.7581; a = 1 / sqrt((1 - p) * (1 + p * alpha'^2)), b = -a * p * alpha'",
  "nn.FeatureAlphaDropout":
    "y_c = a * where(u_c < p, alpha', x_c) + b, alpha' = -1.7581; a = 1 / sqrt((1 - p) * (1 + p * alpha'^2)), b = -a * p * alpha'",
  "nn.Dropout1d": "y[n, c] = where(u[n, c] < p, 0, x[n, c] / (1 - p))",
  "nn.Dropout2d": "y[n, c] = where(u[n, c] < p, 0, x[n, c] / (1 - p))",
  "nn.Dropout3d": "y[n, c] = where(u[n, c] < p, 0, x[n, c] / (1 - p))",
  "nn.FractionalMaxPool2d": "y[i, j] = max(x[a_i : a_i + K, b_j : b_j + K])",
  "nn.FractionalMaxPool3d": "y[i, j, k] = max(x[a_i : a_i + K, b_j : b_j + K, c_k : c_k + K])",
  "nn.MultiheadAttention":
    "y = concat(head_1, ..., head_h) @ W_O; head_i = softmax(Q_i @ K_i^T / sqrt(d)) @ V_i, Q_i = query @ W_{Q,i}, K_i = key @ W_{K,i}, V_i = value @ W_{V,i}",
  "nn.TransformerEncoderLayer":
    "z = LayerNorm(x + attention(x)); y = LayerNorm(z + W_2 @ relu(W_1 @ z + b_1) + b_2)",
  "nn.TransformerDecoderLayer":
    "z = LayerNorm(x + attention(x)); u = LayerNorm(z + attention(z, memory)); y = LayerNorm(u + W_2 @ relu(W_1 @ u + b_1) + b_2)",
  "nn.TransformerEncoder": "x_{l+1} = layer_l(x_l)",
  "nn.TransformerDecoder": "x_{l+1} = layer_l(x_l, memory)",
  "nn.Transformer": "y = decoder(tgt, encoder(src))",
  "nn.RNN": "h_t = tanh(W_{ih} @ x_t + b_{ih} + W_{hh} @ h_{t-1} + b_{hh})",
  "nn.RNNCell": "h' = tanh(W_{ih} @ x + b_{ih} + W_{hh} @ h + b_{hh})",
  "nn.LSTM":
    "i_t = sigma(W_{ii} @ x_t + b_{ii} + W_{hi} @ h_{t-1} + b_{hi}); f_t = sigma(W_{if} @ x_t + b_{if} + W_{hf} @ h_{t-1} + b_{hf}); g_t = tanh(W_{ig} @ x_t + b_{ig} + W_{hg} @ h_{t-1} + b_{hg}); o_t = sigma(W_{io} @ x_t + b_{io} + W_{ho} @ h_{t-1} + b_{ho}); c_t = f_t * c_{t-1} + i_t * g_t, h_t = o_t * tanh(c_t)",
  "nn.LSTMCell":
    "i = sigma(W_{ii} @ x + b_{ii} + W_{hi} @ h + b_{hi}); f = sigma(W_{if} @ x + b_{if} + W_{hf} @ h + b_{hf}); g = tanh(W_{ig} @ x + b_{ig} + W_{hg} @ h + b_{hg}); o = sigma(W_{io} @ x + b_{io} + W_{ho} @ h + b_{ho}); c' = f * c + i * g, h' = o * tanh(c')",
  "nn.GRU":
    "r_t = sigma(W_{ir} @ x_t + b_{ir} + W_{hr} @ h_{t-1} + b_{hr}); z_t = sigma(W_{iz} @ x_t + b_{iz} + W_{hz} @ h_{t-1} + b_{hz}); n_t = tanh(W_{in} @ x_t + b_{in} + r_t * (W_{hn} @ h_{t-1} + b_{hn})); h_t = (1 - z_t) * n_t + z_t * h_{t-1}",
  "nn.GRUCell":
    "r = sigma(W_{ir} @ x + b_{ir} + W_{hr} @ h + b_{hr}); z = sigma(W_{iz} @ x + b_{iz} + W_{hz} @ h + b_{hz}); n = tanh(W_{in} @ x + b_{in} + r * (W_{hn} @ h + b_{hn})); h' = (1 - z) * n + z * h",
  "nn.AdaptiveLogSoftmaxWithLoss":
    "y_n = log(P(t_n)); P(c) = P(cluster) * P(c, cluster); loss = -1 / N * sum_n(y_n)",
  // Optimizers: g is the gradient, theta the parameter, gamma the learning rate.
  "optim.SGD":
    "g_t = grad_t + weightDecay * theta_{t-1}; b_t = momentum * b_{t-1} + (1 - dampening) * g_t; theta_t = theta_{t-1} - lr * b_t",
  "optim.Adam":
    "m_t = beta_1 * m_{t-1} + (1 - beta_1) * g_t, v_t = beta_2 * v_{t-1} + (1 - beta_2) * g_t^2; theta_t = theta_{t-1} - lr * (m_t / (1 - beta_1^t)) / (sqrt(v_t / (1 - beta_2^t)) + eps)",
  "optim.AdamW":
    "m_t = beta_1 * m_{t-1} + (1 - beta_1) * g_t, v_t = beta_2 * v_{t-1} + (1 - beta_2) * g_t^2; theta_t = (1 - lr * weightDecay) * theta_{t-1} - lr * (m_t / (1 - beta_1^t)) / (sqrt(v_t / (1 - beta_2^t)) + eps)",
  "optim.SparseAdam":
    "m_t = beta_1 * m_{t-1} + (1 - beta_1) * g_t, v_t = beta_2 * v_{t-1} + (1 - beta_2) * g_t^2; theta_t = theta_{t-1} - lr * (m_t / (1 - beta_1^t)) / (sqrt(v_t / (1 - beta_2^t)) + eps)",
  "optim.Adamax":
    "m_t = beta_1 * m_{t-1} + (1 - beta_1) * g_t, u_t = max(beta_2 * u_{t-1}, abs(g_t) + eps); theta_t = theta_{t-1} - lr / (1 - beta_1^t) * m_t / u_t",
  "optim.NAdam":
    "mu_t = beta_1 * (1 - 0.5 * 0.96^{t * momentumDecay}); theta_t = theta_{t-1} - lr * (mu_{t+1} * m_t / (1 - prod(i=1, t + 1, mu_i)) + (1 - mu_t) * g_t / (1 - prod(i=1, t, mu_i))) / (sqrt(v_t / (1 - beta_2^t)) + eps)",
  "optim.RAdam":
    "rho_t = rho_inf - 2 * t * beta_2^t / (1 - beta_2^t), rho_inf = 2 / (1 - beta_2) - 1; r_t = sqrt((rho_t - 4) * (rho_t - 2) * rho_inf / ((rho_inf - 4) * (rho_inf - 2) * rho_t)); theta_t = theta_{t-1} - lr * where(rho_t > 5, r_t * hat(m_t) / (sqrt(hat(v_t)) + eps), hat(m_t))",
  "optim.RMSprop":
    "v_t = alpha * v_{t-1} + (1 - alpha) * g_t^2; b_t = momentum * b_{t-1} + g_t / (sqrt(v_t) + eps); theta_t = theta_{t-1} - lr * b_t",
  "optim.Adagrad":
    "s_t = s_{t-1} + g_t^2; theta_t = theta_{t-1} - lr / (1 + (t - 1) * lrDecay) * g_t / (sqrt(s_t) + eps)",
  "optim.Adadelta":
    "v_t = rho * v_{t-1} + (1 - rho) * g_t^2; d_t = sqrt(u_{t-1} + eps) / sqrt(v_t + eps) * g_t; u_t = rho * u_{t-1} + (1 - rho) * d_t^2; theta_t = theta_{t-1} - lr * d_t",
  "optim.Adafactor":
    "V_t = R_t @ C_t / sum_i(R[t, i]); U_t = g_t / sqrt(V_t), theta_t = theta_{t-1} - alpha_t * U_t / max(1, RMS(U_t) / d)",
  "optim.ASGD":
    "eta_t = lr / (1 + lambd * lr * t)^alpha; theta_t = (1 - lambd * eta_t) * theta_{t-1} - eta_t * g_t; ax_t = ax_{t-1} + mu_t * (theta_t - ax_{t-1}), mu_t = 1 / max(1, t - t0)",
  "optim.Rprop":
    "eta_t = where(g_t * g_{t-1} > 0, min(eta_{t-1} * eta_plus, step_max), where(g_t * g_{t-1} < 0, max(eta_{t-1} * eta_minus, step_min), eta_{t-1})); theta_t = theta_{t-1} - eta_t * sign(g_t)",
  "optim.LBFGS": "theta_t = theta_{t-1} - lr * H_t @ g_t, H_t ≈ (grad^2 @ f)^{-1}",
  // Schedulers: eta is the learning rate.
  "optim.lrScheduler.StepLR": "eta_t = eta_0 * gamma^floor(t / stepSize)",
  "optim.lrScheduler.MultiStepLR":
    'eta_t = eta_0 * gamma^k, k = "the number of milestones up to" t',
  "optim.lrScheduler.ExponentialLR": "eta_t = eta_0 * gamma^t",
  "optim.lrScheduler.ConstantLR": "eta_t = where(t < totalIters, factor * eta_0, eta_0)",
  "optim.lrScheduler.LinearLR":
    "eta_t = eta_0 * (startFactor + (endFactor - startFactor) * min(t, totalIters) / totalIters)",
  "optim.lrScheduler.PolynomialLR": "eta_t = eta_0 * (1 - min(t, totalIters) / totalIters)^power",
  "optim.lrScheduler.CosineAnnealingLR":
    "eta_t = eta_min + (eta_0 - eta_min) / 2 * (1 + cos(pi * t / T_max))",
  "optim.lrScheduler.CosineAnnealingWarmRestarts":
    "eta_t = eta_min + (eta_0 - eta_min) / 2 * (1 + cos(pi * T_cur / T_i)), T_{i+1} = T_mult * T_i",
  "optim.lrScheduler.CyclicLR":
    "eta_t = baseLr + (maxLr - baseLr) * max(0, 1 - abs(t / stepSize - 2 * cycle + 1)), cycle = floor(1 + t / (2 * stepSize))",
  "optim.lrScheduler.OneCycleLR":
    "eta_t = end + (start - end) / 2 * (1 + cos(pi * s)); start = maxLr / divFactor -> maxLr -> end = maxLr / (divFactor * finalDivFactor)",
  "optim.lrScheduler.LambdaLR": "eta_t = eta_0 * lrLambda(t)",
  "optim.lrScheduler.MultiplicativeLR": "eta_t = eta_{t-1} * lrLambda(t)",
  "optim.lrScheduler.ReduceLROnPlateau":
    "eta_t = where(bad_t > patience, max(factor * eta_{t-1}, minLr), eta_{t-1})",
  "optim.lrScheduler.ChainedScheduler": 'eta_t = s_n("…" s_2(s_1(eta_{t-1})))',
  "optim.lrScheduler.SequentialLR": "eta_t = s_k(t - m_k), m_k <= t < m_{k+1}",
  "optim.swaUtils.SWALR":
    "eta_t = (1 - a_t) * eta_0 + a_t * swaLr, a_t = (1 - cos(pi * t / annealEpochs)) / 2",
  "optim.swaUtils.AveragedModel":
    "bar(theta)_{n+1} = bar(theta)_n + (theta - bar(theta)_n) / (n + 1)",
  "optim.swaUtils.getSwaAvgFn":
    "bar(theta)_{n+1} = bar(theta)_n + (theta - bar(theta)_n) / (n + 1)",
  "optim.swaUtils.getSwaMultiAvgFn":
    "bar(theta)_{n+1} = bar(theta)_n + (theta - bar(theta)_n) / (n + 1)",
  "optim.swaUtils.getEmaAvgFn": "bar(theta)' = decay * bar(theta) + (1 - decay) * theta",
  "optim.swaUtils.getEmaMultiAvgFn": "bar(theta)' = decay * bar(theta) + (1 - decay) * theta",
  // Utilities of layers.
  "nn.init.uniform_": 'w ~ "uniform on" [a, b]',
  "nn.init.normal_": "w ~ N(mean, std^2)",
  "nn.init.truncNormal_": "w ~ N(mean, std^2), a <= w <= b",
  "nn.init.xavierUniform_": 'w ~ "uniform on" [-a, a], a = gain * sqrt(6 / (fanIn + fanOut))',
  "nn.init.xavierNormal_": "w ~ N(0, std^2), std = gain * sqrt(2 / (fanIn + fanOut))",
  "nn.init.kaimingUniform_": 'w ~ "uniform on" [-a, a], a = gain * sqrt(3 / fan)',
  "nn.init.kaimingNormal_": "w ~ N(0, std^2), std = gain / sqrt(fan)",
  "nn.init.orthogonal_": "W @ W^T = gain^2 * I",
  "nn.init.eye_": "w[i, j] = where(i == j, 1, 0)",
  "nn.init.constant_": "w_i = value",
  "nn.init.ones_": "w_i = 1",
  "nn.init.zeros_": "w_i = 0",
  "nn.utils.clipGradNorm_": "g' = g * min(1, maxNorm / (norm(g, normType) + 10^{-6}))",
  "nn.utils.clipGradsWithNorm_": "g' = g * min(1, maxNorm / (totalNorm + 10^{-6}))",
  "nn.utils.clipGradValue_": "g' = min(max(g, -clipValue), clipValue)",
  "nn.utils.getTotalNorm": "norm(g, normType) = (sum_i(norm(g_i, normType)^normType))^{1/normType}",
  "nn.utils.weightNorm": "w = g * v / norm(v)",
  "nn.utils.parametrizations.weightNorm": "w = g * v / norm(v)",
  "nn.utils.spectralNorm":
    "w = w_0 / sigma(w_0), sigma(w_0) = max_{h != 0}(norm(w_0 @ h) / norm(h))",
  "nn.utils.parametrizations.spectralNorm":
    "w = w_0 / sigma(w_0), sigma(w_0) = max_{h != 0}(norm(w_0 @ h) / norm(h))",
  "nn.utils.parametrizations.orthogonal": "Q^T @ Q = I",
  "nn.utils.fuseConvBnWeights":
    "w' = w * weight / sqrt(var + eps), b' = (b - mean) * weight / sqrt(var + eps) + bias",
  "nn.utils.fuseLinearBnWeights":
    "w' = w * weight / sqrt(var + eps), b' = (b - mean) * weight / sqrt(var + eps) + bias",
  "nn.utils.fuseConvBnEval":
    "w' = w * weight / sqrt(var + eps), b' = (b - mean) * weight / sqrt(var + eps) + bias",
  "nn.utils.fuseLinearBnEval":
    "w' = w * weight / sqrt(var + eps), b' = (b - mean) * weight / sqrt(var + eps) + bias",
  "nn.grad.conv1dInput": "dx = convTranspose(dy, w)",
  "nn.grad.conv2dInput": "dx = convTranspose(dy, w)",
  "nn.grad.conv3dInput": "dx = convTranspose(dy, w)",
  "nn.grad.conv1dWeight":
    "dw[o, c, k] = sum_{n,t}(dy[n, o, t] * x[n, c, stride * t + dilation * k - padding])",
  "nn.grad.conv2dWeight":
    "dw[o, c, k, l] = sum_{n,i,j}(dy[n, o, i, j] * x[n, c, stride * i + k, stride * j + l])",
  "nn.grad.conv3dWeight": "dw[o, c] = sum_n(dy[n, o] * x[n, c])",
  // Derivatives.
  "func.grad": "grad @ f(x)",
  "func.gradAndValue": "grad @ f(x), f(x)",
  "func.hessian": "H[i, j] = d^2 @ f / (d @ x_i @ d @ x_j)",
  "func.jacrev": "J[i, j] = d @ f_i / (d @ x_j)",
  "func.jacfwd": "J[i, j] = d @ f_i / (d @ x_j)",
  "func.jvp": "J(x) @ v",
  "func.vjp": "v^T @ J(x)",
  "func.linearize": "v -> J(x) @ v",
  "autograd.functional.hessian": "H[i, j] = d^2 @ f / (d @ x_i @ d @ x_j)",
  "autograd.functional.jacobian": "J[i, j] = d @ f_i / (d @ x_j)",
  "autograd.functional.jvp": "J(x) @ v",
  "autograd.functional.vjp": "v^T @ J(x)",
  "autograd.functional.hvp": "H(x) @ v",
  "autograd.functional.vhp": "v^T @ H(x)",
  "autograd.grad": "sum_i(v_i * d @ y_i / (d @ x))",
  "autograd.backward": "x.grad = x.grad + sum_i(v_i * d @ y_i / (d @ x))",
  "autograd.backwardAsync": "x.grad = x.grad + sum_i(v_i * d @ y_i / (d @ x))",
  "autograd.gradAsync": "sum_i(v_i * d @ y_i / (d @ x))",
  "autograd.gradcheck": "(f(x + eps) - f(x - eps)) / (2 * eps) ≈ d @ f / (d @ x)",
};
