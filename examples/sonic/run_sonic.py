#!/usr/bin/python3
"""A small talking-head pipeline: one picture of a face and one sound give a video.

It has the stages, the libraries and the options of a real one and takes about a second with
--duration 1 --resolution 256, so it is what a tracer of library calls can be tried on:

    audio    decode and resample            PyAV: libavformat, libavcodec, libswresample
    face     read, crop, resize             OpenCV
    features log spectrum of each frame     torch.stft
    model    save and load TorchScript      torch.jit
    denoise  a few steps for each batch     convolution, group norm, bilinear upsampling
    video    RGB to YUV, encode, mux        PyAV: libswscale, libavcodec, libavformat

The network's weights are random, from a seed: the mouth changes with the sound, it doesn't speak.
The same options give the same frames. What is printed on stdout is the same in each run, too;
times go to stderr.
"""
import argparse
import hashlib
import math
import os
import sys
import tempfile
import time
from fractions import Fraction

# Before libgomp is loaded: its idle threads sleep. Else they spin for the next piece of work, which
# on a machine with anything else to do, a tracer for one, takes the core from who has the work.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import av
import cv2
import numpy as np
import torch
import torch.nn.functional as F

SAMPLE_RATE = 16000  # what speech models take
FRAME_RATE = 25
BATCH = 5            # frames that go through the network together
BANDS = 32           # of the spectrum, for each frame
LATENT = 16          # channels of what is denoised, at a quarter of the resolution


class Block(torch.nn.Module):
    """Convolution, group norm and SiLU."""

    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.conv = torch.nn.Conv2d(inputs, outputs, 3, padding=1)
        self.norm = torch.nn.GroupNorm(8, outputs)

    def forward(self, x):
        return F.silu(self.norm(self.conv(x)))


class Denoiser(torch.nn.Module):
    """Predicts the noise in `x`, given the face and the sound: a U-Net of one step down."""

    def __init__(self):
        super().__init__()
        self.face = Block(3, LATENT)
        self.sound = torch.nn.Linear(BANDS + 1, 2 * LATENT)
        self.enter = Block(2 * LATENT, 2 * LATENT)
        self.deep = Block(2 * LATENT, 2 * LATENT)
        self.leave = torch.nn.Conv2d(2 * LATENT, LATENT, 3, padding=1)

    def forward(self, x, face, sound, noise_level: float):
        level = torch.full((sound.size(0), 1), noise_level)
        told = self.sound(torch.cat([sound, level], 1))[:, :, None, None]
        wide = self.enter(torch.cat([x, self.face(face)], 1)) + told
        deep = self.deep(F.avg_pool2d(wide, 2))
        up = F.interpolate(deep, scale_factor=2.0, mode="bilinear", align_corners=False)
        return self.leave(wide + up)


class Decoder(torch.nn.Module):
    """From the latent picture to RGB at four times its size, in [-1, 1]."""

    def __init__(self):
        super().__init__()
        self.first = Block(LATENT, LATENT)
        self.second = Block(LATENT, 8)
        self.rgb = torch.nn.Conv2d(8, 3, 1)

    def forward(self, x):
        x = F.interpolate(self.first(x), scale_factor=2.0, mode="bilinear", align_corners=False)
        x = F.interpolate(self.second(x), scale_factor=2.0, mode="bilinear", align_corners=False)
        return torch.tanh(self.rgb(x))


class Sonic(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.denoiser = Denoiser()
        self.decoder = Decoder()

    def forward(self, x, face, sound, noise_level: float):
        return self.denoiser(x, face, sound, noise_level)

    @torch.jit.export
    def decode(self, x):
        return self.decoder(x)


def can_encode(codec):
    return codec in av.codecs_available


def make_face(path):
    """Draws a face: something to read, crop and resize when no picture is given."""
    picture = np.full((480, 640, 3), (190, 170, 150), np.uint8)
    cv2.ellipse(picture, (320, 240), (130, 175), 0, 0, 360, (150, 180, 225), -1, cv2.LINE_AA)
    for x in (270, 370):
        cv2.ellipse(picture, (x, 200), (24, 13), 0, 0, 360, (250, 250, 250), -1, cv2.LINE_AA)
        cv2.circle(picture, (x, 200), 9, (70, 50, 40), -1, cv2.LINE_AA)
    cv2.ellipse(picture, (320, 335), (48, 15), 0, 0, 360, (70, 60, 170), -1, cv2.LINE_AA)
    cv2.imwrite(path, picture)


def make_sound(path, seconds):
    """Writes a voice-like sound: harmonics of 140 Hz, four syllables a second, as MP3 or WAV."""
    rate = 44100
    t = np.arange(int(seconds * rate)) / rate
    voice = sum(np.sin(2 * math.pi * 140 * k * t) / k for k in range(1, 12))
    voice *= np.clip(np.sin(2 * math.pi * 4 * t), 0, 1) * 0.3
    samples = (np.clip(voice, -1, 1) * 32767).astype(np.int16)
    with av.open(path, "w") as out:
        stream = out.add_stream("mp3" if path.endswith(".mp3") else "pcm_s16le", rate=rate)
        stream.layout = "mono"
        frame = av.AudioFrame.from_ndarray(samples[None, :], format="s16", layout="mono")
        frame.rate, frame.time_base, frame.pts = rate, Fraction(1, rate), 0
        out.mux(stream.encode(frame))
        out.mux(stream.encode(None))


def read_sound(path, seconds):
    """Decodes the first `seconds` as mono samples at SAMPLE_RATE; silence follows a short sound."""
    samples = np.zeros(int(seconds * SAMPLE_RATE), np.float32)
    resampler = av.AudioResampler(format="flt", layout="mono", rate=SAMPLE_RATE)
    filled = 0
    with av.open(path) as sound:
        for decoded in sound.decode(audio=0):
            for frame in resampler.resample(decoded):
                part = frame.to_ndarray()[0][:len(samples) - filled]
                samples[filled:filled + len(part)] = part
                filled += len(part)
            if filled == len(samples):
                break
    return samples


def read_face(path, resolution):
    """The middle square of the picture as RGB at the resolution of the video."""
    picture = cv2.imread(path, cv2.IMREAD_COLOR)
    if picture is None:
        sys.exit(f"run_sonic.py: {path}: not a picture that OpenCV can read")
    height, width = picture.shape[:2]
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    square = picture[top:top + side, left:left + side]
    resized = cv2.resize(square, (resolution, resolution), interpolation=cv2.INTER_AREA)
    return cv2.cvtColor(resized, cv2.COLOR_BGR2RGB)


def mouth_mask(resolution):
    """Where the video may differ from the picture: around the mouth, fading out."""
    mask = np.zeros((resolution, resolution), np.float32)
    centre = (resolution // 2, int(resolution * 0.70))
    axes = (int(resolution * 0.16), int(resolution * 0.09))
    cv2.ellipse(mask, centre, axes, 0, 0, 360, 1.0, -1)
    return cv2.GaussianBlur(mask, (0, 0), resolution / 40)


def sound_features(samples, frames):
    """The log spectrum at each frame, BANDS wide, and each frame's loudness in [0, 1]."""
    spectrum = torch.stft(torch.from_numpy(samples), n_fft=512,
                          hop_length=SAMPLE_RATE // FRAME_RATE,
                          window=torch.hann_window(512), return_complex=True).abs()
    power = F.adaptive_avg_pool1d(torch.log1p(spectrum).t()[None], BANDS)[0, :frames]
    loudness = power.mean(1)
    return power, loudness / loudness.max().clamp(min=1e-6)


def load_model(path, seed):
    """Goes by a file, as a model in production does: scripted, saved, loaded."""
    torch.manual_seed(seed)
    torch.jit.script(Sonic().eval()).save(path)
    return torch.jit.load(path)


def generate(model, face, features, loudness, steps, seed):
    """Denoises and decodes batch after batch; returns the frames as one uint8 array."""
    resolution = face.shape[0]
    picture = torch.from_numpy(face).permute(2, 0, 1)[None].float() / 127.5 - 1
    small = F.interpolate(picture, scale_factor=0.25, mode="bilinear", align_corners=False)
    mask = torch.from_numpy(mouth_mask(resolution))
    random = torch.Generator().manual_seed(seed)
    side = resolution // 4
    noise = torch.randn(1, LATENT, side, side, generator=random)  # one for all frames: no flicker
    frames = []
    for first in range(0, len(features), BATCH):
        sound = features[first:first + BATCH]
        x = noise.repeat(len(sound), 1, 1, 1)
        for step in range(steps):
            x = x - model(x, small.repeat(len(sound), 1, 1, 1), sound, 1 - step / steps) / steps
        change = model.decode(x) * mask * loudness[first:first + BATCH, None, None, None]
        rgb = ((picture + change).clamp(-1, 1) + 1) * 127.5
        frames.append(rgb.round().to(torch.uint8).permute(0, 2, 3, 1).contiguous().numpy())
    return np.concatenate(frames)


def write_video(path, frames, samples):
    """MP4 with H.264 (MPEG-4 where libx264 is missing) and AAC."""
    codec = "libx264" if can_encode("libx264") else "mpeg4"
    with av.open(path, "w") as out:
        video = out.add_stream(codec, rate=FRAME_RATE)
        video.width, video.height, video.pix_fmt = frames.shape[2], frames.shape[1], "yuv420p"
        sound = out.add_stream("aac", rate=SAMPLE_RATE)
        sound.layout, sound.bit_rate = "mono", 48000
        for number, picture in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, FRAME_RATE)
            out.mux(video.encode(frame))
        out.mux(video.encode(None))
        heard = av.AudioFrame.from_ndarray(samples[None, :], format="fltp", layout="mono")
        heard.rate, heard.time_base, heard.pts = SAMPLE_RATE, Fraction(1, SAMPLE_RATE), 0
        out.mux(sound.encode(heard))
        out.mux(sound.encode(None))
    return codec


def parse_options():
    parser = argparse.ArgumentParser(description="A face and a sound become a video.")
    parser.add_argument("--image", help="picture of a face (default: one is drawn)")
    parser.add_argument("--audio", help="sound, any format (default: one is made)")
    parser.add_argument("--duration", type=float, default=1.0, help="seconds of video")
    parser.add_argument("--resolution", type=int, default=256, help="width and height, in pixels")
    parser.add_argument("--inference_steps", type=int, default=6, help="denoising steps a frame")
    parser.add_argument("--output", default="sonic.mp4")
    parser.add_argument("--model", help="where to leave the TorchScript file (default: nowhere)")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2,
                        help="of torch's pool; pinned, so that each machine makes the same calls")
    options = parser.parse_args()
    for given in (options.image, options.audio):
        if given and not os.path.exists(given):
            parser.error(f"{given}: no such file")
    if options.duration * FRAME_RATE < 1:
        parser.error("--duration: shorter than one frame")
    if options.resolution < 64 or options.resolution % 8:
        parser.error("--resolution: a multiple of 8, at least 64")
    if options.inference_steps < 1:
        parser.error("--inference_steps: at least 1")
    return options


def main():
    options = parse_options()
    torch.set_num_threads(options.threads)
    torch.set_grad_enabled(False)
    cv2.setNumThreads(options.threads)
    frames_wanted = int(options.duration * FRAME_RATE)
    times = []
    started = time.perf_counter()

    def stage(name, text):
        times.append((name, time.perf_counter() - started - sum(t for _, t in times)))
        print(f"{name:<9}{text}")

    with tempfile.TemporaryDirectory(prefix="sonic-") as directory:
        image, audio = options.image, options.audio
        if not image:
            image = os.path.join(directory, "input_face.jpg")
            make_face(image)
        if not audio:
            kind = "mp3" if can_encode("libmp3lame") else "wav"
            audio = os.path.join(directory, f"audio.{kind}")
            make_sound(audio, options.duration)
        stage("inputs", f"{os.path.basename(image)}, {os.path.basename(audio)}")
        samples = read_sound(audio, options.duration)
        stage("audio", f"{len(samples)} samples at {SAMPLE_RATE} Hz")
        face = read_face(image, options.resolution)
        stage("face", f"{face.shape[1]} x {face.shape[0]} pixels")
        features, loudness = sound_features(samples, frames_wanted)
        stage("features", f"{features.shape[0]} frames of {features.shape[1]} bands")
        model = load_model(options.model or os.path.join(directory, "sonic_model.pt"), options.seed)
        stage("model", f"{sum(p.numel() for p in model.parameters())} parameters")
        frames = generate(model, face, features, loudness, options.inference_steps, options.seed)
        stage("denoise", f"{len(frames)} frames, {options.inference_steps} steps each")
        codec = write_video(options.output, frames, samples)
        stage("video", f"{options.output}, {codec}")
    print(f"frames   {hashlib.sha256(frames.tobytes()).hexdigest()[:16]}")
    print("seconds  " + ", ".join(f"{name} {t:.3f}" for name, t in times)
          + f": {time.perf_counter() - started:.3f}", file=sys.stderr)


if __name__ == "__main__":
    main()
