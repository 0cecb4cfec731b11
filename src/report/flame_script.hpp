#pragma once

namespace sonictrace::report {

/// Zoom by a click, search by regular expression. What it needs stands in the boxes: place and
/// width, level, and the title, whose first line is the name. Without it the picture is complete.
inline constexpr const char* kFlameScript = R"js((function(){
var root=document.currentScript.parentNode, W=+root.dataset.width, G=6.7;
var boxes=[].map.call(root.querySelectorAll('svg.b'),function(e){
 return {e:e,x:+e.getAttribute('x'),w:+e.getAttribute('width'),l:+e.dataset.l,t:e.querySelector('text'),
 r:e.querySelector('rect'),n:e.querySelector('title').textContent.split('\n')[0]};});
var reset=root.querySelector('.reset'), find=root.querySelector('.find'), found=root.querySelector('.found');
function fit(n,w){var m=Math.floor((w-6)/G);if(m<3)return'';n=Array.from(n);return n.length<=m?n.join(''):n.slice(0,m-1).join('')+'\u2026';}
function zoom(z){boxes.forEach(function(b){
 var out=b.l<z.l?!(b.x<=z.x+.006&&b.x+b.w>=z.x+z.w-.006):(b.x<z.x-.006||b.x+b.w>z.x+z.w+.006);
 b.e.style.display=out?'none':'';if(out)return;
 var k=W/z.w,x=b.l<z.l?0:(b.x-z.x)*k,w=b.l<z.l?W:b.w*k;
 b.e.setAttribute('x',x);b.e.setAttribute('width',w);b.e.classList.toggle('n',w<3);b.e.style.opacity=b.l<z.l?.5:1;b.t.textContent=fit(b.n,w);});
 reset.style.display=z.l>0?'':'none';}
boxes.forEach(function(b){b.e.style.cursor='pointer';b.e.addEventListener('click',function(){zoom(b);});});
reset.addEventListener('click',function(){zoom(boxes[0]);});reset.style.display='none';
find.style.display='';
find.addEventListener('click',function(){var q=prompt('Frames whose name matches (regular expression):','');
 if(q===null)return;var re=null;try{re=q&&new RegExp(q);}catch(e){alert(e.message);return;}
 var end=-1,sum=0;boxes.map(function(b){var hit=re&&re.test(b.n);b.r.style.fill=hit?'#e15bff':'';return hit?b:null;})
 .filter(Boolean).sort(function(a,b){return a.x-b.x||b.w-a.w;}).forEach(function(b){
 if(b.x>=end-.006){sum+=b.w;end=b.x+b.w;}});
 found.textContent=re?(100*sum/boxes[0].w).toFixed(1)+' % matches':'';});
})();)js";

} // namespace sonictrace::report
