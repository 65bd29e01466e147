// The layout of graphs, which is that of the panels of edgegrad/vis.

export * from "../../../../web/vis/elements/layout.js";
