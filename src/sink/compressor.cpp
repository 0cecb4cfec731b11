#include "sink/compressor.hpp"

#include <zlib.h>
#include <zstd.h>

#include <cstddef>
#include <limits>

#include "sonictrace/base/check.hpp"

namespace sonictrace {
namespace {

/// Room made in the output at a time.
constexpr std::size_t kStep = std::size_t{128} * 1024;

class ZstdCompressor final : public Compressor {
public:
  ZstdCompressor() : context_(ZSTD_createCCtx()) {
    SONICTRACE_CHECK(context_ != nullptr, "zstd has no memory");
    ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, kLevel);
    // A log that was damaged on a disk is told apart from one that was cut.
    ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
  }
  ZstdCompressor(const ZstdCompressor&) = delete;
  ~ZstdCompressor() override { ZSTD_freeCCtx(context_); }

  void compress(std::string_view text, Ending ending, std::string& out) override {
    const ZSTD_EndDirective directive = ending == Ending::Open      ? ZSTD_e_continue
                                        : ending == Ending::Flushed ? ZSTD_e_flush
                                                                    : ZSTD_e_end;
    ZSTD_inBuffer in = {text.data(), text.size(), 0};
    for (;;) {
      const std::size_t before = out.size();
      out.resize(before + kStep);
      ZSTD_outBuffer to = {out.data() + before, kStep, 0};
      const std::size_t left = ZSTD_compressStream2(context_, &to, &in, directive);
      out.resize(before + to.pos);
      SONICTRACE_CHECK(ZSTD_isError(left) == 0, "zstd can't fail but for memory");
      // A flush is done when nothing is left, a continued piece when it is taken in (zstd.h).
      const bool done = ending == Ending::Open ? in.pos == in.size : left == 0;
      if (done) return;
    }
  }

private:
  static constexpr int kLevel = 3;

  ZSTD_CCtx* context_;
};

class GzipCompressor final : public Compressor {
public:
  GzipCompressor() {
    constexpr int kGzip = 16; // added to the window bits (zlib.h)
    const int made = ::deflateInit2(&stream_, kLevel, Z_DEFLATED, MAX_WBITS + kGzip, kMemoryLevel,
                                    Z_DEFAULT_STRATEGY);
    SONICTRACE_CHECK(made == Z_OK, "zlib has no memory");
  }
  GzipCompressor(const GzipCompressor&) = delete;
  ~GzipCompressor() override { ::deflateEnd(&stream_); }

  void compress(std::string_view text, Ending ending, std::string& out) override {
    SONICTRACE_CHECK(text.size() <= std::numeric_limits<uInt>::max(), "a piece is too large");
    // zlib takes no const text, and changes none.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_.avail_in = static_cast<uInt>(text.size());
    const int flush = ending == Ending::Open      ? Z_NO_FLUSH
                      : ending == Ending::Flushed ? Z_SYNC_FLUSH
                                                  : Z_FINISH;
    for (;;) {
      const std::size_t before = out.size();
      out.resize(before + kStep);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + before);
      stream_.avail_out = static_cast<uInt>(kStep);
      const int state = ::deflate(&stream_, flush);
      const bool has_room = stream_.avail_out > 0; // then all that could be written is
      out.resize(before + kStep - stream_.avail_out);
      SONICTRACE_CHECK(state != Z_STREAM_ERROR, "the state of zlib's stream is broken");
      if (state == Z_STREAM_END || (has_room && ending != Ending::Ended)) return;
    }
  }

private:
  static constexpr int kLevel = 6;
  static constexpr int kMemoryLevel = 8; // zlib's default

  z_stream stream_ = {};
};

} // namespace

std::unique_ptr<Compressor> make_compressor(Compression compression) {
  switch (compression) {
    case Compression::None: break;
    case Compression::Zstd: return std::make_unique<ZstdCompressor>();
    case Compression::Gzip: return std::make_unique<GzipCompressor>();
  }
  return nullptr;
}

} // namespace sonictrace
