// What parameters mean whose name says something else elsewhere: by their type, the function they belong to, or the parameters beside them.

const isTensor = ({ type }) => /\bTensor\b|Operand/.test(type);
const isNumber = ({ type }) => /^(number|bigint)\b/.test(type) && !/Tensor/.test(type);
const isText = ({ type }) => /^string$/.test(type);
const isFlag = ({ type }) => /^boolean\b/.test(type);
const isOther = (context) => !isTensor(context) && !isNumber(context) && !isText(context);
const isOf = (pattern) => (context) => pattern.test(context.type);
const hasShapeOf = ({ owner }) => /As$/.test(owner);

const kInContext = {
  bias: [[isFlag, "Whether a learned number is added per output."]],
  code: [[isOf(/^ErrorCode$/), "What went wrong, in one word."]],
  count: [[isNumber, "The number of tokens."]],
  index: [[isNumber, "The position."]],
  input: [[({ family }) => family === "Losses", "The predictions of the model."]],
  key: [[(context) => !isTensor(context), "The key."]],
  other: [
    [hasShapeOf, "The tensor whose shape or dtype is taken."],
    [isOf(/^Transform/), "The transform to compare with."],
  ],
  p: [[isOf(/^(Distribution|P$)/), "The first distribution."]],
  q: [[isOf(/^(Distribution|Q$)/), "The second distribution."]],
  scale: [[isOf(/^Parameter/), "The width of the distribution."]],
  source: [
    [isOf(/^Ints$/), "Where the dims are."],
    [isOther, "Where it is read from, such as a folder, a file or an address."],
  ],
  src: [[isNumber, "The process that sends."]],
  state: [[isOther, "The state that was saved."]],
  step: [[isOf(/=>/), "The function that is measured."]],
  target: [
    [isText, "The name, with a point before each level below."],
    [isOf(/ByteStream/), "Where it is written."],
    [isOf(/Traceable/), "The model or the function."],
  ],
  tensor: [[isOf(/^T$/), "The tensor."]],
  upper: [[isNumber, "The upper limit of the slope."]],
  value: [
    [({ siblings }) => siblings.includes("query"), "What is averaged, [..., length, features]."],
    [isFlag, "Whether it is on."],
    [isOther, "The value."],
    [({ owner }) => owner === "addScalar", "The value."],
  ],
  values: [[(context) => !isTensor(context), "The values."]],
  weight: [
    [({ family }) => family === "Losses", "A factor for each class or element."],
    [
      ({ owner }) => /^lerp_?$/.test(owner),
      "How far to go from `input`, where it is 0, to `end`, where it is 1.",
    ],
  ],
};

/** Returns what a parameter means in { type, owner, family, siblings }: texts of its type and its function, the family of ops, and names; null if that is its usual meaning. */
export function meaningInContext(name, context) {
  return kInContext[name]?.find(([applies]) => applies(context))?.[1] ?? null;
}
