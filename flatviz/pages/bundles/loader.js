var c=globalThis.flatvizFrontEnds??=new Map,_=t=>t.widget_manager.get_model(t.get("channel").replace("IPY_MODEL_",""));function C(t,s){return new Promise(
o=>{let e=(a,r)=>{a.kind===s&&(t.off("msg:custom",e),o({content:a,buffers:r}))};t.on("msg:custom",e),t.send({want:s})})}function k(t){let s=URL.
createObjectURL(new Blob([t],{type:"text/javascript"}));return import(s).finally(()=>URL.revokeObjectURL(s))}function O(t,s){if(!c.has(t)){let o=async()=>{
let{buffers:e}=await C(s,"front end"),[a,r]=e.map(m=>new TextDecoder().decode(m)),f=globalThis.Plotly,l=await k(`const module = { exports: {\
} };
${r}
export default module.exports;`);f&&(globalThis.Plotly=f);let{show:i}=await k(`${a}
export const { show } = flatvizExplorer;`);return{show:i,Plotly:l.default}};c.set(t,o().catch(e=>{throw c.delete(t),e}))}return c.get(t)}var p=new WeakMap,u="The kernel that made this view has ended. What was fitted can still be looked at; run the cell again to fit more.";function L(t,s){
if(!p.has(s)){let o={bundle:void 0,index:void 0,extras:[],status:void 0,views:new Set};p.set(s,o),s.on("msg:custom",(e,a)=>{if(e.kind==="tra\
its"&&t.set(e.traits),e.kind==="status"&&(o.status=e),!(e.kind==="family"&&e.index===o.index)){if(e.kind==="family"||e.kind==="member"){let r={
index:JSON.parse(e.index),buffer:a[0]};e.kind==="family"?Object.assign(o,{bundle:r,index:e.index,extras:[]}):o.extras.push(r),e={kind:e.kind,
bundle:r}}for(let r of o.views)r(e)}}),s.send({want:"family"})}return p.get(s)}function M(t){let s=document.createElement("style");return s.
textContent=`.jp-OutputArea-child:has(.flatviz-still[data-view='${t}']) { display: none }`,document.head.append(s),()=>s.remove()}function S(t){
let s=null,o=()=>t.style.setProperty("--fv-top",`${-new DOMMatrix(getComputedStyle(s).transform).m42}px`),e=new MutationObserver(o),a=new ResizeObserver(
()=>{let r=t.closest(".jp-WindowedPanel-viewport");r!==s&&(s=r,e.disconnect(),t.style.removeProperty("--fv-top"),s&&(e.observe(s,{attributes:!0,
attributeFilter:["style"]}),o()))});return a.observe(t),()=>{a.disconnect(),e.disconnect()}}var z={async render({model:t,el:s}){let o=document.
createElement("p");o.textContent="This view asks its kernel for the data: run the notebook, or wait for the first fit.",s.replaceChildren(o);
let e,a=!1,r=0,f=t.get("channel").replace("IPY_MODEL_",""),l=await _(t),i=L(t,l),m=M(f),w=n=>{try{n()}catch{e?.lost(u)}},E=(n,d={})=>w(()=>l.
send({want:n,...d})),h={get:n=>t.get(n),set:(...n)=>t.set(...n),save_changes:()=>w(()=>t.save_changes())};for(let n of["on","off"])h[n]=(...d)=>t[n](
...d);let P=S(s),v=async()=>{let n=++r;try{let{show:d,Plotly:T}=await O(t.get("front"),l);if(a||n!==r||!i.bundle)return;e?.stop();let g=s.contains(
document.activeElement)&&document.activeElement.getAttribute("aria-label");e=d({Plotly:T,model:h,el:s,bundle:i.bundle,ask:E,former:e?.history});
for(let j of i.extras)e.add(j);g&&s.querySelector(`[aria-label="${g}"]`)?.focus({preventScroll:!0}),i.status&&e.status(i.status),l.comm_live===
!1&&e.lost(u)}catch(d){s.textContent=`The view could not start: ${d}`}},x=n=>{e?e.status(n):o.textContent=[n.text,n.error].filter(Boolean).join(
`
`)},b=n=>{n.kind==="status"?x(n):n.kind==="member"&&e?e.add(n.bundle):(n.kind==="family"||n.kind==="member")&&v()},y=()=>{l.comm_live===!1&&
(e?e.lost(u):o.textContent=u)};return l.on("comm_live_update",y),i.views.add(b),i.status&&x(i.status),v(),()=>{a=!0,l.off("comm_live_update",
y),i.views.delete(b),m(),P(),e?.stop()}}};export{z as default};
