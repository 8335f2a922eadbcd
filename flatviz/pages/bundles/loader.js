var c=globalThis.flatvizFrontEnds??=new Map,L="post ",m=t=>t.widget_manager.get_model(t.get("channel").replace("IPY_MODEL_",""));function P(t,s){
let a=()=>{for(let[e,r]of Object.entries(t.attributes))e.startsWith(L)&&(delete t.attributes[e],s(r))};t.on("change",a),a()}function O(t){let s=URL.
createObjectURL(new Blob([t],{type:"text/javascript"}));return import(s).finally(()=>URL.revokeObjectURL(s))}async function M(t){let[s,a]=t.
map(p=>new TextDecoder().decode(p)),e=globalThis.Plotly,r=await O(`const module = { exports: {} };
${a}
export default module.exports;`);e&&(globalThis.Plotly=e);let{show:l}=await O(`${s}
export const { show } = flatvizExplorer;`);return{show:l,Plotly:r.default}}function d(t){if(!c.has(t)){let s,a=new Promise(e=>{s=e}).then(M);
c.set(t,{loaded:a,offer:s,asked:!1}),a.catch(()=>c.delete(t))}return c.get(t)}var h=new WeakMap,u="The kernel that made this view has ended. What was fitted can still be looked at; run the cell again to fit more.";function E(t,s){
if(!h.has(s)){let a={bundle:void 0,index:void 0,extras:[],status:void 0,front:!1,views:new Set};h.set(s,a),P(s,e=>{if(e.kind==="front end"){
a.front=!0;let r=d(t.get("front"));r.asked=!0,r.offer(e.buffers)}if(e.kind==="traits"&&t.set(e.traits),e.kind==="status"&&(a.status=e),!(e.kind===
"family"&&e.index===a.index)){if(e.kind==="family"||e.kind==="member"){let r={index:JSON.parse(e.index),buffer:e.buffers[0]};e.kind==="famil\
y"?Object.assign(a,{bundle:r,index:e.index,extras:[]}):a.extras.push(r),e={kind:e.kind,bundle:r}}for(let r of a.views)r(e)}})}return h.get(s)}
function $(t){let s=document.createElement("style");return s.textContent=`.jp-OutputArea-child:has(.flatviz-still[data-view='${t}']) { displ\
ay: none }`,document.head.append(s),()=>s.remove()}function z(t){let s=null,a=()=>t.style.setProperty("--fv-top",`${-new DOMMatrix(getComputedStyle(
s).transform).m42}px`),e=new MutationObserver(a),r=new ResizeObserver(()=>{let l=t.closest(".jp-WindowedPanel-viewport");l!==s&&(s=l,e.disconnect(),
t.style.removeProperty("--fv-top"),s&&(e.observe(s,{attributes:!0,attributeFilter:["style"]}),a()))});return r.observe(t),()=>{r.disconnect(),
e.disconnect()}}var U={async initialize({model:t}){E(t,await m(t))},async render({model:t,el:s}){let a=document.createElement("p");a.textContent=
"No picture yet: run the notebook, or wait for the first fit.",s.replaceChildren(a);let e,r=!1,l=0,p=t.get("channel").replace("IPY_MODEL_",""),
i=await m(t),o=E(t,i);await i.state_change;let j=$(p),w=n=>{try{n()}catch{e?.lost(u)}},b=(n,f={})=>w(()=>i.send({want:n,...f})),v={get:n=>t.
get(n),set:(...n)=>t.set(...n),save_changes:()=>w(()=>t.save_changes())};for(let n of["on","off"])v[n]=(...f)=>t[n](...f);let S=z(s),x=async()=>{
let n=++l;try{let{show:f,Plotly:T}=await d(t.get("front")).loaded;if(r||n!==l||!o.bundle)return;e?.stop();let _=s.contains(document.activeElement)&&
document.activeElement?.getAttribute("aria-label");e=f({Plotly:T,model:v,el:s,bundle:o.bundle,ask:b,former:e?.history});for(let C of o.extras)
e.add(C);_&&s.querySelector(`[aria-label="${_}"]`)?.focus({preventScroll:!0}),o.status&&e.status(o.status),i.comm_live===!1&&e.lost(u)}catch(f){
s.textContent=`The view could not start: ${f}`}},y=n=>{e?e.status(n):a.textContent=[n.text,n.error].filter(Boolean).join(`
`)},g=n=>{n.kind==="status"?y(n):n.kind==="member"&&e?e.add(n.bundle):(n.kind==="family"||n.kind==="member")&&x()},k=()=>{i.comm_live===!1&&
(e?e.lost(u):a.textContent=u)};if(i.on("comm_live_update",k),o.views.add(g),o.status&&y(o.status),!o.front&&i.comm_live!==!1){let n=d(t.get(
"front"));b("all",{front:!n.asked}),n.asked=!0}return x(),()=>{r=!0,i.off("comm_live_update",k),o.views.delete(g),j(),S(),e?.stop()}}};export{U as default};
