"""Runs examples/sonic/run_sonic.py, with its own options, and prints what the log should show of calls
that it leads to, one a line, behind `told `. A `?` stands for what Python does not know."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples/sonic"))
import run_sonic as sonic

cv2, torch = sonic.cv2, sonic.torch


def told(call, *arguments):
    print(f"told {call}({', '.join(arguments)})", flush=True)


def quoted(path):
    return f'"{path}"'


def listed(values):
    values = list(values)
    return f"[{', '.join(map(str, values[:4]))}{', ...' if len(values) > 4 else ''}]"


def watch(owner, name, tell):
    """Has `tell` say what the log shows of each call of owner.name."""
    watched = getattr(owner, name)

    def call(*arguments, **named):
        tell(*arguments, **named)
        return watched(*arguments, **named)

    setattr(owner, name, call)


def size(picture):
    return f"CV_8UC{picture.shape[2]} {picture.shape[1]}x{picture.shape[0]}"


def interpolated(x, scale_factor, mode, align_corners):
    told("at::_ops::upsample_bilinear2d_vec::call", listed(x.shape), "nullopt",
         str(align_corners).lower(), listed([scale_factor] * 2))


class Functional:
    """torch.nn.functional, as the program sees it once its model has been compiled."""
    interpolate = staticmethod(sonic.F.interpolate)


def generating(*_):
    watch(Functional, "interpolate", interpolated)
    sonic.F = Functional


def writing(_, frames, __):
    height, width = map(str, frames.shape[1:3])
    for _ in frames:
        told("sws_getCachedContext", "?", width, height, "AV_PIX_FMT_RGB24", width, height,
             "AV_PIX_FMT_YUV420P", "?")


def opening(path, mode="r"):
    if mode == "r":
        told("avformat_open_input", "?", quoted(path), "?")


watch(cv2, "imread", lambda path, flags: told("cv::imread", quoted(path), "?"))
watch(cv2, "resize", lambda picture, to, interpolation: told(
    "cv::resize", size(picture), "?", f"{{ {to[0]}, {to[1]} }}", "0.0", "0.0", "?"))
watch(sonic.av, "open", opening)
watch(torch.jit, "load", lambda path: told("torch::jit::import_ir_module", "?", quoted(path), "?"))
watch(torch.Tensor, "repeat", lambda x, *by: told(
    "at::_ops::repeat::call", listed(x.shape), listed(by)))
watch(torch.Tensor, "permute", lambda x, *order: told(
    "at::_ops::permute::call", listed(x.shape), listed(order)))
watch(sonic, "generate", generating)
watch(sonic, "write_video", writing)
sonic.main()
