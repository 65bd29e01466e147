// The pages of the navigation, in its order: the folder, the name, and one sentence for the list on the start page.

export const kPages = [
  [
    "digits",
    "Digits",
    "Draw a digit, train a classifier on MNIST in the page, and teach it your handwriting.",
  ],
  [
    "personalize",
    "Personalize",
    "Show your camera a few things, and a small network tells them apart seconds later.",
  ],
  [
    "colors",
    "Colors",
    "A network learns the colors of what your camera sees, without a byte of it leaving the graphics card.",
  ],
  ["gpt", "Small GPT", "A language model trains on a book while you read the text it generates."],
  [
    "fine_tune",
    "Fine-tune",
    "Open a language model, teach it your answers on this device, and keep the adapter.",
  ],
  [
    "engine_room",
    "Engine room",
    "The backward graph of your model, node by node, on the threads that run it.",
  ],
  ["hogwild", "Hogwild", "Workers train one model in shared memory, without locks."],
  [
    "federated",
    "Federated",
    "Four devices learn the same digits together, and keep their own to themselves.",
  ],
  [
    "converter",
    "Converter",
    "Open an ONNX, PyTorch or safetensors file: its graph, its weights, a run, a lesson, and other formats.",
  ],
  ["playground", "Playground", "Two dimensions, a few neurons, and ten lines of your own code."],
  [
    "measure_gpu",
    "Measure your GPU",
    "What your graphics card reaches with edgegrad, jax-js and TensorFlow.js, as a table to copy.",
  ],
  [
    "server_check",
    "Server check",
    "What your server sends with a page and its engine: compression, types, isolation, caching.",
  ],
  ["speed", "Speed", "The results of the benchmarks, commit by commit."],
];
