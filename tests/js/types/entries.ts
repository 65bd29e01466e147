// The entries of the package that need no other package. tests/js/project/types.test.mjs compiles this file together with the declarations themselves.

import * as eg from "edgegrad";
import * as amp from "edgegrad/amp";
import * as autograd from "edgegrad/autograd";
import * as data from "edgegrad/data";
import * as distributions from "edgegrad/distributions";
import * as fft from "edgegrad/fft";
import * as func from "edgegrad/func";
import * as io from "edgegrad/io";
import * as linalg from "edgegrad/linalg";
import * as masked from "edgegrad/masked";
import * as nn from "edgegrad/nn";
import * as onnx from "edgegrad/onnx";
import * as optim from "edgegrad/optim";
import * as peft from "edgegrad/peft";
import * as random from "edgegrad/random";
import * as single from "edgegrad/single";
import * as special from "edgegrad/special";
import * as testing from "edgegrad/testing";
import * as transformers from "edgegrad/transformers";
import * as vis from "edgegrad/vis";

console.log(eg, amp, autograd, data, distributions, fft, func, io, linalg, nn, onnx, optim);
console.log(masked, peft, random, single, special, testing, transformers, vis);
