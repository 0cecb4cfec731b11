#!/usr/bin/env bash
# The main job, from nothing: installs what it needs (Debian 12; root or sudo), builds sonictrace,
# traces the pipeline of run_sonic.py, and shows where its time went. Results: build/sonic/.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
out=$root/build/sonic
python=/usr/bin/python3 # Debian's, which has torch; another one may come first in PATH

step() { printf '\n== %s\n' "$*"; }

step "packages"
"$root/.ci/install" build sonic

step "build"
[ -f "$root/build/CMakeCache.txt" ] ||
  cmake --log-level=WARNING -S "$root" -B "$root/build" -DBUILD_TESTING=OFF -G Ninja
cmake --build "$root/build" --target sonictrace --target sonicreport
sonictrace=$root/build/src/sonictrace
sonicreport=$root/build/src/sonicreport

mkdir -p "$out"
cd "$out"

# run LABEL NAME COMMAND...: says how long it took. Its output is in NAME.out and NAME.err.
run() {
  local label=$1 name=$2 begin
  shift 2
  begin=$(date +%s%N)
  "$@" >"$name.out" 2>"$name.err" || { cat "$name.err" >&2; exit 1; }
  printf '%-32s%6.1f s' "$label" "$((($(date +%s%N) - begin) / 100000000))e-1"
  [ ! -e "$name.log" ] || printf ', log of %s' "$(du -h "$name.log" | cut -f 1)"
  echo
}
pipeline=("$python" "$here/run_sonic.py" --duration 1 --resolution 256)

step "all calls: sonictrace -T -tt -o all.log python3 run_sonic.py --duration 1 --resolution 256"
rm -f all.log libtorch.log counted.log
run "untraced" untraced "${pipeline[@]}"
run "traced, all functions" all "$sonictrace" -T -tt -o all.log "${pipeline[@]}"
tail -n 1 all.log
run "traced, -e '*@libtorch*'" libtorch "$sonictrace" -T -tt -e '*@libtorch*' -o libtorch.log "${pipeline[@]}"
tail -n 1 libtorch.log
run "counted, all functions" counted "$sonictrace" -c -o counted.log "${pipeline[@]}"
tail -n 1 counted.log
for name in all libtorch counted; do
  cmp -s untraced.out "$name.out" ||
    { echo "the output of the traced program differs: $out/$name.out" >&2; exit 1; }
done

# Some hundred functions: those a stage of the pipeline is made of.
filter=(
  # TorchScript: from a module to a file and back, what runs it, and the passes over its graph
  -e 'torch::jit::import_ir_module,torch::jit::ExportModule@libtorch*'
  -e 'torch::jit::GraphExecutor::run,torch::jit::InterpreterState::run@libtorch*'
  -e 'torch::jit::Inline,torch::jit::ConstantPropagation,torch::jit::PeepholeOptimize@libtorch*'
  -e 'torch::jit::RemoveExpands,torch::jit::UnrollLoops,torch::jit::FuseTensorExprs@libtorch*'
  # the work: convolutions, norms, up and down in resolution, the spectrum
  -e 'at::native::*conv*@libtorch_cpu*,at::native::*group_norm*@libtorch_cpu*'
  -e 'at::native::upsample_*@libtorch_cpu*,at::native::*_avg_pool*@libtorch_cpu*'
  -e 'at::native::structured_*silu*,at::native::structured_*tanh*,at::native::structured_addmm*'
  -e 'at::native::linear,at::native::stft,at::native::_fft_r2c*,at::native::copy_@libtorch_cpu*'
  -e 'at::_ops::*conv*::call@libtorch_cpu*,at::_ops::upsample_*::call@libtorch_cpu*'
  # FFmpeg: demux and decode, resample, scale, encode and mux
  -e 'avformat_*@libavformat*,av_read_frame@libavformat*,av_interleaved_write_frame@libavformat*'
  -e 'avcodec_*@libavcodec*,avfilter_*@libavfilter*,av_buffersrc_*@libavfilter*'
  -e 'av_frame_alloc@libavutil*,av_frame_ref@libavutil*,swr_*@libswresample*,sws_*@libswscale*'
  # OpenCV
  -e 'cv::imread,cv::imwrite,cv::imdecode@libopencv*'
  -e 'cv::resize,cv::cvtColor,cv::GaussianBlur,cv::ellipse,cv::circle@libopencv*'
)

step "trace: sonictrace -T -tt -o sonic.log (filter) python3 run_sonic.py --duration 1 --resolution 256"
"$sonictrace" -T -tt -o sonic.log "${filter[@]}" \
  "$python" "$here/run_sonic.py" --duration 1 --resolution 256 --model sonic_model.pt

step "trace: a C++ program that calls torch::jit::load"
if [ ! -x load_model ] || [ "$here/load_model.cpp" -nt load_model ]; then
  g++ -std=c++17 -O1 -w "$here/load_model.cpp" -o load_model -ltorch -ltorch_cpu -lc10
fi
"$sonictrace" -T -tt -o load_model.log -e 'torch::jit::load*' ./load_model sonic_model.pt
grep 'torch::jit::load' load_model.log | cut -c 1-150

step "sonic.log: $(wc -l <sonic.log) lines, of which the first, and the longest call of each stage"
head -n 3 sonic.log | cut -c 1-140
for function in avcodec_receive_frame cv::resize torch::jit::import_ir_module at::native::stft \
                at::native::mkldnn_convolution at::native::native_group_norm \
                at::native::upsample_bilinear2d sws_scale avcodec_send_frame; do
  awk -F '<' -v call=" $function(" 'index($0, call) && (line == "" || $NF + 0 > most + 0) { most = $NF; line = $0 }
    END { print line == "" ? "no call of" call : line; exit line == "" }' sonic.log | cut -c 1-140
done
tail -n 1 sonic.log

step "functions by time: sonicreport top -s total -n 20 sonic.log"
"$sonicreport" top -s total -n 20 sonic.log
step "stages: sonicreport top --by stage --stages sonic.stages sonic.log"
"$sonicreport" top --by stage --stages "$here/sonic.stages" sonic.log
step "pictures: sonicreport flame, html"
"$sonicreport" flame -o sonic.svg sonic.log
"$sonicreport" html -o sonic.html sonic.log
echo
echo "The whole log: $out/sonic.log; in a browser: $out/sonic.html"
