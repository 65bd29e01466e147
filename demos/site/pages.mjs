// The pages of the site, in the order of the navigation. Each has a folder, a name, and one sentence for the list on the start page.

/** The entries of the header that open a list of pages, and the tools, which are in the footer. */
export const kGroups = { learn: "Learn", demos: "Demos", tools: "Tools" };

/** All pages: the group, the folder, the name and the sentence. */
export const kPages = [
  [
    "learn",
    "backprop",
    "Backpropagation",
    "A course: every value and every gradient of small expressions, step by step, with numbers to drag.",
  ],
  [
    "learn",
    "engine_room",
    "Engine room",
    "The backward graph of your model, node by node, on the threads that run it.",
  ],
  [
    "learn",
    "playground",
    "Playground",
    "Two dimensions, a few neurons, and ten lines of your own code.",
  ],
  [
    "learn",
    "notebook",
    "Notebook",
    "Cells of JavaScript or Python that run in this page, one after the other, and stay on this device.",
  ],
  [
    "demos",
    "digits",
    "Digits",
    "Draw a digit, train a classifier on MNIST in the page, and teach it your handwriting.",
  ],
  [
    "demos",
    "personalize",
    "Personalize",
    "Show your camera a few things, and a small network tells them apart seconds later.",
  ],
  [
    "demos",
    "sounds",
    "Sounds",
    "Clap, whistle or speak: a small network learns to tell your sounds apart in seconds.",
  ],
  [
    "demos",
    "colors",
    "Colors",
    "A network learns the colors of what your camera sees, without a byte of it leaving the graphics card.",
  ],
  [
    "demos",
    "gpt",
    "Small GPT",
    "A language model trains on a book while you read the text it generates.",
  ],
  [
    "demos",
    "fine_tune",
    "Fine-tune",
    "Open a language model, teach it your answers on this device, and keep the adapter.",
  ],
  ["demos", "hogwild", "Hogwild", "Workers train one model in shared memory, without locks."],
  [
    "demos",
    "federated",
    "Federated",
    "Four devices learn the same digits together, and keep their own to themselves.",
  ],
  [
    "demos",
    "converter",
    "Converter",
    "Open an ONNX, PyTorch or safetensors file: its graph, its weights, a run, a lesson, and other formats.",
  ],
  [
    "tools",
    "measure_gpu",
    "Measure your GPU",
    "What your graphics card reaches with edgegrad, jax-js and TensorFlow.js, as a table to copy.",
  ],
  [
    "tools",
    "server_check",
    "Server check",
    "What your server sends with a page and its engine: compression, types, isolation, caching.",
  ],
  ["tools", "speed", "Speed", "The results of the benchmarks, commit by commit."],
].map(([group, name, title, sentence]) => ({ group, name, title, sentence }));
