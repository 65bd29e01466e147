export { ModuleDict, type Named } from "./module_dict.js";
export { ModuleList } from "./module_list.js";
export { ParameterDict, ParameterList } from "./parameters.js";
export { Sequential, type TensorModule } from "./sequential.js";
