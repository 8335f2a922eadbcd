var m=globalThis.flatvizFrontEnds??=new Map,O="post ",w=s=>s.widget_manager.get_model(s.get("channel").replace("IPY_MODEL_",""));function x(s,t){
let e=()=>{for(let[n,o]of Object.entries(s.attributes))n.startsWith(O)&&(delete s.attributes[n],t(o))};s.on("change",e),e()}function b(s){let t=URL.
createObjectURL(new Blob([s],{type:"text/javascript"}));return import(t).finally(()=>URL.revokeObjectURL(t))}async function P(s){let[t,e]=s.
map(i=>new TextDecoder().decode(i)),n=globalThis.Plotly,o=await b(`const module = { exports: {} };
${e}
export default module.exports;`);n&&(globalThis.Plotly=n);let{show:r}=await b(`${t}
export const { show } = flatvizExplorer;`);return{show:r,Plotly:o.default}}function u(s){let t=m.get(s);if(t)return t;let{promise:e,resolve:n}=E(),
o={loaded:e.then(P),offer:n,asked:!1};return m.set(s,o),o.loaded.catch(()=>m.delete(s)),o}function E(){let s=()=>{};return{promise:new Promise(
e=>{s=e}),resolve:s}}var y=new WeakMap,d="The kernel that made this view has ended. What was fitted can still be looked at; run the cell again to fit more.";function T(s,t,e){
if(e.kind==="front end"){t.front=!0;let i=u(s.get("front"));return i.asked=!0,i.offer(e.buffers),e}if(e.kind==="traits")return s.set(e.traits),
e;if(e.kind==="status")return t.status=e,e;let{kind:n,index:o}=e;if(n==="family"&&o===t.index)return null;let r={index:JSON.parse(o),buffer:e.
buffers[0]};return n==="family"?(t.bundle=r,t.index=o,t.extras=[]):t.extras.push(r),{kind:n,bundle:r}}function k(s,t){let e=y.get(t);if(e)return e;
let n={extras:[],front:!1,views:new Set};return y.set(t,n),x(t,o=>{let r=T(s,n,o);if(r)for(let i of n.views)i(r)}),n}function L(s){let t=document.
createElement("style");return t.textContent=`.jp-OutputArea-child:has(.flatviz-still[data-view='${s}']) { display: none }`,document.head.append(
t),()=>t.remove()}function M(s){let t=null,e=()=>{if(!t)return;let{m42:r}=new DOMMatrix(getComputedStyle(t).transform);s.style.setProperty("\
--fv-top",`${-r}px`)},n=new MutationObserver(e),o=new ResizeObserver(()=>{let r=s.closest(".jp-WindowedPanel-viewport");r!==t&&(t=r,n.disconnect(),
s.style.removeProperty("--fv-top"),t&&(n.observe(t,{attributes:!0,attributeFilter:["style"]}),e()))});return o.observe(s),()=>{o.disconnect(),
n.disconnect()}}var v=class{shown=null;gone=!1;turn=0;constructor(t,e,n,o){this.model=t,this.el=e,this.channel=n,this.waiting=o,this.shared=
k(t,n)}tell(t){try{t()}catch{this.shown?.lost(d)}}ask(t,e={}){this.tell(()=>this.channel.send({want:t,...e}))}get controls(){let{model:t}=this;
return{get:e=>t.get(e),set:(e,n)=>t.set(e,n),save_changes:()=>this.tell(()=>t.save_changes()),on:(e,n)=>t.on(e,n),off:(e,n)=>t.off?.(e,n)}}async start(){
let{model:t,el:e,channel:n,shared:o}=this;this.turn+=1;let r=this.turn;try{let{show:i,Plotly:h}=await u(t.get("front")).loaded,{bundle:c}=o;
if(this.gone||r!==this.turn||!c)return;this.shown?.stop();let{activeElement:l}=document,a=e.contains(l)&&l?.getAttribute("aria-label"),f=i({
Plotly:h,model:this.controls,el:e,bundle:c,ask:(p,_)=>this.ask(p,_),former:this.shown?.history});this.shown=f;for(let p of o.extras)f.add(p);
let g=a?e.querySelector(`[aria-label="${a}"]`):null;g instanceof HTMLElement&&g.focus({preventScroll:!0}),o.status&&f.status(o.status),n.comm_live===
!1&&f.lost(d)}catch(i){e.textContent=`The view could not start: ${i}`}}hear(t){let{shown:e,waiting:n}=this;t.kind==="status"?e?e.status(t):n.
textContent=[t.text,t.error].filter(Boolean).join(`
`):t.kind==="member"&&e?e.add(t.bundle):(t.kind==="family"||t.kind==="member")&&this.start()}checkKernel(){this.channel.comm_live===!1&&(this.
shown?this.shown.lost(d):this.waiting.textContent=d)}},C={async initialize({model:s}){k(s,await w(s))},async render({model:s,el:t}){let e=document.
createElement("p");e.textContent="No picture yet: run the notebook, or wait for the first fit.",t.replaceChildren(e);let n=await w(s),o=new v(
s,t,n,e),{shared:r}=o;await n.state_change;let i=L(s.get("channel").replace("IPY_MODEL_","")),h=M(t),c=()=>o.checkKernel(),l=a=>o.hear(a);if(n.
on("comm_live_update",c),r.views.add(l),r.status&&l({...r.status,kind:"status"}),!r.front&&n.comm_live!==!1){let a=u(s.get("front"));o.ask("\
all",{front:!a.asked}),a.asked=!0}return o.start(),()=>{o.gone=!0,n.off("comm_live_update",c),r.views.delete(l),i(),h(),o.shown?.stop()}}};export{C as default};
