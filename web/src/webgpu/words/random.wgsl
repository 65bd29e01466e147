// Random words: Philox 4x32-10, as in src/runtime/philox.h.

fn philox_words(start: vec4<u32>, start_key: vec2<u32>) -> vec4<u32> {
  var counter = start;
  var key = start_key;
  for (var round = 0u; round < 10u; round++) {
    let even = wide_product(0xd2511f53u, counter.x);
    let odd = wide_product(0xcd9e8d57u, counter.z);
    counter = vec4(odd.x ^ counter.y ^ key.x, odd.y, even.x ^ counter.w ^ key.y, even.y);
    key += vec2(0x9e3779b9u, 0xbb67ae85u);
  }
  return counter;
}

// The words of a group at a distance from a position of 64 bits, low word first. More attempts have words of their own.
fn random_words(position: vec2<u32>, distance: u32, attempt: u32, key: vec2<u32>) -> vec4<u32> {
  let low = position.x + distance;
  let high = position.y + select(0u, 1u, low < distance);
  return philox_words(vec4(low, high, attempt, 0u), key);
}

// In [0, 1), with 24 bits.
fn uniform_f32(words: vec4<u32>) -> vec4<f32> {
  return vec4<f32>(words >> vec4(8u)) * 5.9604644775390625e-08f;
}

// In (0, 1].
fn positive_uniform_f32(word: u32) -> f32 {
  return f32(word) * 2.3283064365386963e-10f + 1.1641532182693481e-10f;
}

// Box and Muller: two normals from two words.
fn normal_pair_f32(word: u32, turn: f32) -> vec2<f32> {
  let radius = sqrt_f32(-2f * log_f32(positive_uniform_f32(word)));
  let angle = 2f * kPi * turn;
  return radius * vec2(cos_f32(angle), sin_f32(angle));
}

fn normals_f32(words: vec4<u32>) -> vec4<f32> {
  let turns = uniform_f32(words);
  return vec4(normal_pair_f32(words.x, turns.y), normal_pair_f32(words.z, turns.w));
}

fn exponentials_f32(words: vec4<u32>) -> vec4<f32> {
  return -vec4(
    log_f32(positive_uniform_f32(words.x)),
    log_f32(positive_uniform_f32(words.y)),
    log_f32(positive_uniform_f32(words.z)),
    log_f32(positive_uniform_f32(words.w)),
  );
}

fn cauchys_f32(words: vec4<u32>) -> vec4<f32> {
  let angles = kPi * (uniform_f32(words) - 0.5f);
  return vec4(tan_f32(angles.x), tan_f32(angles.y), tan_f32(angles.z), tan_f32(angles.w));
}

fn exps_f32(x: vec4<f32>) -> vec4<f32> {
  return vec4(exp_f32(x.x), exp_f32(x.y), exp_f32(x.z), exp_f32(x.w));
}

// Knuth's product of uniform numbers up to a rate of 10, above it Hormann's transformed rejection. Chances of k events are compared
// by Stirling's series around k + 1, in which the large terms have been subtracted from each other: floats would lose the rest.
fn poisson_f32(rate: f32, position: vec2<u32>, distance: u32, key: vec2<u32>) -> f32 {
  let none = exp_f32(-rate);
  let b = 0.931f + 2.53f * sqrt_f32(rate);
  let a = 0.02483f * b - 0.059f;
  let scale = 1.1239f + 1.1328f / (b - 3.4f);
  var product = 1f;
  // So many attempts are never needed.
  for (var attempt = 0u; attempt < 64u; attempt++) {
    let words = random_words(position, distance, attempt, key);
    if (rate < 10f) {
      for (var k = 0u; k < 4u; k++) {
        product *= positive_uniform_f32(words[k]);
        if (product <= none) {
          return f32(4u * attempt + k);
        }
      }
      continue;
    }
    let u = positive_uniform_f32(words.x) - 0.5f;
    let v = positive_uniform_f32(words.y);
    let distance_to_end = 0.5f - abs(u);
    let k = floor((2f * a / distance_to_end + b) * u + rate + 0.43f);
    if (distance_to_end >= 0.07f && v <= 0.9277f - 3.6224f / (b - 2f)) {
      return k;
    }
    if (k < 0f || (distance_to_end < 0.013f && v > distance_to_end)) {
      continue;
    }
    let m = k + 1f;
    let above = m - rate;
    let series = 0.918938533f + (1f / 12f - 1f / 360f / (m * m)) / m;
    let chance = above - k * log1p_f32(above / rate) - 0.5f * log_f32(m) - series;
    if (log_f32(v * scale / (a / (distance_to_end * distance_to_end) + b)) <= chance) {
      return k;
    }
  }
  return floor(rate);
}
