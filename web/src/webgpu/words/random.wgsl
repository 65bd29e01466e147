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

// The words of a group at a distance from a position of 64 bits, low word first.
fn random_words(position: vec2<u32>, distance: u32, key: vec2<u32>) -> vec4<u32> {
  let low = position.x + distance;
  let high = position.y + select(0u, 1u, low < distance);
  return philox_words(vec4(low, high, 0u, 0u), key);
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
