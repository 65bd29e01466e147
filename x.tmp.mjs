import { eg } from "./tests/js/support/engine.mjs";
import { callOp, opTable, samplesOf } from "./tests/js/support/op_samples.mjs";
import { compositeTable } from "./tests/js/support/composite_samples.mjs";
console.warn=()=>{};
const w = eg.tensor(1, {dtype:'float64', requiresGrad:true});
const bad = new Map();
function note(op, k, what){ const key=op.js+' '+what; bad.set(key,(bad.get(key)??0)+1); }
for (const mode of ['noGrad','grad']) for (const op of [...opTable.filter(o=>o.kind!=='internal'), ...compositeTable]) for (const {text, make} of samplesOf(op)) {
  const args = make();
  if (args===null) continue;
  let outs; 
  const plainArgs = args.map(a=> a instanceof eg.Tensor ? a.detach(): Array.isArray(a)? a.map(b=>b instanceof eg.Tensor?b.detach():b):a);
  try { outs = mode==='noGrad' ? eg.noGrad(()=>callOp(op, plainArgs)) : callOp(op, args); } catch(e){ note(op,0,'throws '+e.message.slice(0,60)); continue; }
  const operands = plainArgs.flat().filter(a=>a instanceof eg.Tensor);
  outs.forEach((r,k)=>{
    if (!(r instanceof eg.Tensor) || !r.isView) return;
    const before = operands.map(o=>JSON.stringify(o));
    const b = r.base.detach();
    try { eg.noGrad(()=>b.dtype==='bool'? b.logicalNot_() : b.add_(1)); } catch(e) { note(op,k,mode+' base cannot change '+e.message.slice(0,50)); return; }
    const changed = operands.some((o,i)=>JSON.stringify(o)!==before[i]);
    if (!changed && r.numel>0 && !op.js.endsWith('_')) note(op,k,mode+' hidden view');
  });
}
for (const [k,v] of bad) console.log(k,v);
await eg.shutdown();
