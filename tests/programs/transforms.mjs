// Derivatives as values: function transforms, higher derivatives, activation checkpointing.

import * as eg from "edgegrad";

const { nn, optim } = eg;
const F = nn.functional;
const { func } = eg;
const { parametersToVector, vectorToParameters } = nn.utils;

const namesOf = (values) => Object.fromEntries(values.map((value, i) => [i, value]));

function mlp(params, x) {
  const hidden = F.linear(x, params[0], params[1]).tanh();
  return F.linear(hidden, params[2], params[3]);
}

/** Regression of sines: the outer step differentiates through the inner step. */
function maml(record, dtype) {
  const meta = [[12, 1], [12], [1, 12], [1]].map((shape) => {
    return eg.rand(shape, { dtype }).sub(0.5).requiresGrad_();
  });
  const optimizer = new optim.Adam(meta, { lr: 0.02 });
  const lossOf = (params, x, y) => F.mseLoss(mlp(params, x), y);
  const first = eg.slice(null, 5);
  const last = eg.slice(5, null);
  for (let step = 0; step < 15; step++) {
    let total = eg.zeros([], { dtype });
    for (let task = 0; task < 3; task++) {
      const amplitude = eg.rand([1], { dtype }).mul(4).add(1);
      const phase = eg.rand([1], { dtype }).mul(3);
      const x = eg.rand([10, 1], { dtype }).mul(10).sub(5);
      const y = amplitude.mul(x.add(phase).sin());
      const params = namesOf(meta);
      const grads = func.grad(lossOf)(params, x.at(first), y.at(first));
      const fast = Object.entries(params).map(([name, p]) => p.sub(grads[name].mul(0.05)));
      total = total.add(lossOf(fast, x.at(last), y.at(last)));
    }
    optimizer.zeroGrad();
    total.backward();
    optimizer.step();
    record(total);
  }
  return meta;
}

/** DP-SGD: per-sample gradients, clipped and summed, with added noise. */
function perSample(record, dtype) {
  const model = new nn.Sequential(
    new nn.Conv2d(1, 4, 3),
    new nn.GroupNorm(2, 4),
    new nn.ReLU(),
    new nn.Flatten(),
    new nn.Linear(64, 3),
  ).to(dtype);
  const x = eg.randn([8, 1, 6, 6], { dtype });
  const y = eg.randint(0, 3, [8]);
  const params = Object.fromEntries(model.namedParameters());
  const lossOf = (values, image, label) => {
    const scores = func.functionalCall(model, values, [image.unsqueeze(0)]);
    return F.crossEntropy(scores, label.unsqueeze(0));
  };
  const all = func.vmap(func.gradAndValue(lossOf), { inDims: [null, 0, 0] });
  for (let step = 0; step < 15; step++) {
    const [grads, losses] = all(params, x, y);
    const each = Object.values(grads).map((grad) => grad.flatten(1).norm({ dim: 1 }));
    const norms = eg.stack(each).norm({ dim: 0 });
    const factors = eg.div(0.5, norms.add(1e-6)).clamp({ max: 1 });
    eg.noGrad(() => {
      for (const [name, p] of Object.entries(params)) {
        const summed = eg.einsum("b,b...->...", factors, grads[name]);
        p.sub_(summed.add(eg.randnLike(p).mul(0.01)).div(8), { alpha: 0.5 });
      }
    });
    record(losses.mean());
    record(norms.max());
  }
  return model.parameters();
}

/** Three networks trained together. */
function ensemble(record, dtype) {
  const models = [0, 1, 2].map(() => {
    return new nn.Sequential(new nn.Linear(3, 8), new nn.Tanh(), new nn.Linear(8, 1)).to(dtype);
  });
  const x = eg.randn([3, 12, 3], { dtype });
  const y = x.prod(2, { keepdim: true });
  const [params, buffers] = func.stackModuleState(models);
  const optimizer = new optim.Adam(Object.values(params), { lr: 0.02 });
  const lossOf = (values, state, input, wanted) => {
    const out = func.functionalCall(models[0], [values, state], [input]);
    return F.mseLoss(out, wanted);
  };
  for (let step = 0; step < 15; step++) {
    const losses = func.vmap(lossOf)(params, buffers, x, y);
    optimizer.zeroGrad();
    losses.sum().backward();
    optimizer.step();
    for (const loss of losses) record(loss);
  }
  return Object.values(params);
}

/** Newton's method: the Hessian of a function of a vector, and a system of equations. */
function newton(record, dtype) {
  const x = new nn.Parameter(eg.tensor([-1.2, 1, 0.7], { dtype }));
  const rosenbrock = (v) => {
    const [later, earlier] = [v.at(eg.slice(1, null)), v.at(eg.slice(null, -1))];
    const bend = later.sub(earlier.pow(2)).pow(2).mul(100);
    return bend.add(eg.sub(1, earlier).pow(2)).sum();
  };
  for (let step = 0; step < 5; step++) {
    const hessian = func.hessian(rosenbrock)(x.detach());
    const [value, pullback] = func.vjp(rosenbrock, x.detach());
    const [grad] = pullback(eg.ones([], { dtype }));
    record(value);
    record(eg.det(hessian).item() > 0 ? eg.logdet(hessian) : hessian.sum());
    eg.noGrad(() => {
      const damped = hessian.add(eg.eye(3, { dtype }).mul(1e-3));
      x.sub_(eg.solve(damped, grad));
    });
  }
  record(
    func
      .jacrev((v) => v.sin().cumsum(0))(x.detach())
      .sum(),
  );
  const ones = eg.ones([3], { dtype });
  record(func.jvp(func.grad(rosenbrock), [x.detach()], [ones])[1].sum());
  const direction = eg.arange(3, { dtype });
  record(func.jvp((v) => v.exp().mul(v.sum()), [x.detach()], [direction])[1].sum());
  return [x];
}

/** Burgers' equation: the loss contains derivatives of a network with respect to its inputs. */
function pinn(record, dtype) {
  const net = new nn.Sequential(
    new nn.Linear(2, 12),
    new nn.Tanh(),
    new nn.Linear(12, 12),
    new nn.Tanh(),
    new nn.Linear(12, 1),
  ).to(dtype);
  const x = eg.rand([20, 1], { dtype }).mul(2).sub(1).requiresGrad_();
  const t = eg.rand([20, 1], { dtype }).requiresGrad_();
  const settings = { lr: 0.5, maxIter: 3, historySize: 5 };
  const optimizer = new optim.LBFGS(net.parameters(), settings);
  const { grad } = eg.autograd;
  const closure = () => {
    optimizer.zeroGrad();
    const u = net.call(eg.cat([x, t], 1));
    const [ux, ut] = grad(u, [x, t], { gradOutputs: eg.onesLike(u), createGraph: true });
    const [uxx] = grad(ux.sum(), [x], { createGraph: true });
    const residual = ut.add(u.mul(ux)).sub(uxx.mul(0.01 / Math.PI));
    const start = net.call(eg.cat([x, eg.zerosLike(t)], 1)).add(x.mul(Math.PI).sin());
    const loss = residual.square().mean().add(start.square().mean());
    loss.backward();
    return loss;
  };
  for (let step = 0; step < 5; step++) record(optimizer.step(closure));
  return net.parameters();
}

function wganGp(record, dtype) {
  const critic = new nn.Sequential(
    new nn.Linear(2, 16),
    new nn.LeakyReLU(0.2),
    new nn.Linear(16, 1),
  );
  const generator = new nn.Sequential(new nn.Linear(2, 16), new nn.ELU(), new nn.Linear(16, 2));
  const ofCritic = new optim.RMSprop(critic.to(dtype).parameters(), { lr: 5e-3 });
  const ofGenerator = new optim.RMSprop(generator.to(dtype).parameters(), { lr: 5e-3 });
  const update = (optimizer, loss) => {
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    record(loss);
  };
  for (let step = 0; step < 15; step++) {
    const real = eg.randn([12, 2], { dtype }).mul(0.2).add(1);
    const fake = generator.call(eg.randn([12, 2], { dtype }));
    const share = eg.rand([12, 1], { dtype });
    const mixed = share.mul(real).add(eg.sub(1, share).mul(fake));
    const between = mixed.detach().requiresGrad_(true);
    const sum = critic.call(between).sum();
    const [grad] = eg.autograd.grad(sum, [between], { createGraph: true });
    const penalty = grad.norm(2, { dim: 1 }).sub(1).pow(2).mean();
    const judged = critic.call(fake.detach()).mean().sub(critic.call(real).mean());
    update(ofCritic, judged.add(penalty.mul(10)));
    if (step % 3 === 2) update(ofGenerator, critic.call(fake).mean().neg());
  }
  return [...critic.parameters(), ...generator.parameters()];
}

function checkpointed(record, dtype) {
  const block = () => new nn.Sequential(new nn.Linear(6, 6), new nn.GELU(), new nn.Dropout(0.2));
  const blocks = new nn.ModuleList([block(), block(), block()]).to(dtype);
  const head = new nn.Linear(6, 1).to(dtype);
  const x = eg.randn([10, 6], { dtype });
  const params = [...blocks.parameters(), ...head.parameters()];
  const optimizer = new optim.Adadelta(params, { lr: 1, eps: 1e-3 });
  for (let step = 0; step < 15; step++) {
    let h = x;
    for (const one of blocks) h = eg.autograd.checkpoint((input) => one.call(input), h);
    const loss = head.call(h).squeeze(1).sub(x.sum(1)).square().mean();
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    record(loss);
  }
  return params;
}

class StraightThrough extends eg.autograd.Function {
  static forward(ctx, x, scale) {
    ctx.saveForBackward(x);
    ctx.scale = scale;
    return x.sign().mul(scale);
  }

  static backward(ctx, g) {
    const [x] = ctx.savedTensors;
    return [g.mul(x.abs().le(1)).mul(ctx.scale), null];
  }
}

/** A custom Function, a hook on a tensor, one on a module, and one after a gradient was accumulated. */
function binarised(record, dtype) {
  const first = new nn.Linear(5, 16).to(dtype);
  const second = new nn.Linear(16, 2).to(dtype);
  const x = eg.randn([20, 5], { dtype });
  const y = eg.randint(0, 2, [20]);
  const seen = [];
  second.registerForwardHook((_module, _args, out) => out.mul(1.5));
  first.registerFullBackwardHook((_module, _gradIn, gradOut) => {
    seen.push(gradOut[0].norm().item());
  });
  first.weight.registerHook((grad) => grad.clamp(-0.01, 0.01));
  const params = [...first.parameters(), ...second.parameters()];
  const optimizer = new optim.SGD(params, { lr: 0.3, momentum: 0.5 });
  for (let step = 0; step < 15; step++) {
    const out = second.call(StraightThrough.apply(first.call(x), 0.8));
    const loss = F.crossEntropy(out, y);
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    record(loss);
    record(seen.at(-1));
  }
  return params;
}

/** Random search and averages over all parameters as one vector. */
function vectors(record, dtype) {
  const model = new nn.Sequential(new nn.Linear(4, 6), new nn.Sigmoid(), new nn.Linear(6, 1));
  model.to(dtype);
  const x = eg.randn([16, 4], { dtype });
  const y = x.prod(1, { keepdim: true });
  let center = parametersToVector(model.parameters()).detach();
  for (let step = 0; step < 12; step++) {
    const noise = eg.randn([6, center.numel], { dtype });
    const each = [...noise].map((one) => {
      vectorToParameters(center.add(one.mul(0.1)), model.parameters());
      return F.mseLoss(model.call(x), y).detach();
    });
    const scores = eg.stack(each);
    const weights = scores.sub(scores.mean()).div(scores.std());
    center = center.sub(weights.matmul(noise).mul(0.05).div(6));
    record(scores.mean());
  }
  vectorToParameters(center, model.parameters());
  return model.parameters();
}

/** A neural ODE with Runge-Kutta; backward goes through the solver. */
function ode(record, dtype) {
  const net = new nn.Sequential(new nn.Linear(2, 16), new nn.Tanh(), new nn.Linear(16, 2));
  net.to(dtype);
  const turn = [
    [-0.1, 2],
    [-2, -0.1],
  ];
  const truth = eg.tensor(turn, { dtype });
  const h = 0.025;
  const solve = (f, from) => {
    let y = from;
    const path = [y];
    for (let step = 0; step < 20; step++) {
      const k1 = f(y);
      const k2 = f(y.add(k1.mul(h / 2)));
      const k3 = f(y.add(k2.mul(h / 2)));
      const k4 = f(y.add(k3.mul(h)));
      const sum = k1.add(k2.mul(2)).add(k3.mul(2)).add(k4);
      y = y.add(sum.mul(h / 6));
      path.push(y);
    }
    return eg.stack(path);
  };
  const y0 = eg.tensor([[2, 0]], { dtype });
  const wanted = eg.noGrad(() => solve((y) => y.pow(3).matmul(truth), y0));
  const optimizer = new optim.RMSprop(net.parameters(), { lr: 0.01 });
  for (let step = 0; step < 12; step++) {
    const path = solve((y) => net.call(y.pow(3)), y0);
    const loss = path.sub(wanted).abs().mean();
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    record(loss);
  }
  return net.parameters();
}

/** A student network learns from a teacher, which is a moving average of it: copies, buffers and states. */
function teacher(record, dtype) {
  const student = new nn.Sequential(
    new nn.Linear(4, 8, { bias: false }),
    new nn.BatchNorm1d(8),
    new nn.ReLU(),
    new nn.Linear(8, 3),
  ).to(dtype);
  const average = student.clone().requiresGrad_(false);
  const optimizer = new optim.AdamW(student.parameters(), { lr: 0.02 });
  for (let step = 0; step < 15; step++) {
    const x = eg.randn([12, 4], { dtype });
    const wanted = eg.noGrad(() => {
      return average.call(x.add(eg.randnLike(x).mul(0.1))).softmax(1);
    });
    const followed = F.klDiv(student.call(x).logSoftmax(1), wanted, { reduction: "batchmean" });
    const right = x.at(eg.slice(), eg.slice(null, 3)).argmax(1);
    const loss = followed.add(F.crossEntropy(student.call(x), right));
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    eg.noGrad(() => {
      const own = student.parameters();
      for (const [i, a] of average.parameters().entries()) a.mul_(0.9).add_(own[i], { alpha: 0.1 });
    });
    if (step === 7) average.loadStateDict(student.stateDict());
    record(loss);
  }
  const norm = average.at(1);
  return [...student.parameters(), ...average.parameters(), norm.running_mean, norm.running_var];
}

export const programs = {
  MAML: maml,
  "gradients of each sample": perSample,
  ensemble,
  Newton: newton,
  PINN: pinn,
  "WGAN-GP": wganGp,
  "checkpoints of activations": checkpointed,
  "functions and hooks of one's own": binarised,
  "parameters as a vector": vectors,
  "neural ODE": ode,
  "student and teacher": teacher,
};
