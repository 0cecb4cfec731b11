#include "log/unpacker.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "sonictrace/base/check.hpp"

namespace sonictrace::log {
namespace {

constexpr std::size_t kPackedBlock = 256 * 1024;

/// The packed bytes, in blocks.
class Packed {
public:
  Packed(int fd, std::string begun, std::string name)
      : fd_(fd), name_(std::move(name)), bytes_(begun.begin(), begun.end()), end_(begun.size()) {
    bytes_.resize(std::max(kPackedBlock, end_));
  }

  std::span<const char> rest() const { return {bytes_.data() + at_, end_ - at_}; }
  void skip(std::size_t count) { at_ += count; }
  const std::string& name() const { return name_; }

  /// Reads more when nothing is left; false at the end of the file.
  Result<bool> refill() {
    if (at_ < end_) return true;
    auto n = read_some(fd_, bytes_, name_);
    if (!n) return n.error();
    at_ = 0;
    end_ = *n;
    return *n > 0;
  }

private:
  int fd_;
  std::string name_;
  std::vector<char> bytes_;
  std::size_t at_ = 0;
  std::size_t end_;
};

Error damaged(const std::string& name, std::string_view how) {
  return Error::saying(fmt::format(
      "can't unpack {}: {}; the file is damaged, and what stands before was read", name, how));
}

class Gunzip final : public Unpacker {
public:
  explicit Gunzip(Packed packed) : packed_(std::move(packed)) {
    // 15: the largest window; 16: gzip's header (zlib.h).
    SONICTRACE_CHECK(::inflateInit2(&stream_, 15 + 16) == Z_OK, "zlib has no memory");
  }
  ~Gunzip() override { ::inflateEnd(&stream_); }
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  Result<std::size_t> read(std::span<char> into) override {
    stream_.next_out = reinterpret_cast<Bytef*>(into.data());
    stream_.avail_out = static_cast<uInt>(into.size());
    while (stream_.avail_out == into.size()) {
      auto more = packed_.refill();
      if (!more) return more.error();
      if (!*more) break;
      const auto rest = packed_.rest();
      if (!within_) {
        // Zeros may pad the end of a file (gzip(1), tapes).
        if (rest[0] == '\0') {
          packed_.skip(1);
          continue;
        }
        ::inflateReset(&stream_);
        within_ = true;
      }
      // zlib does not write to what it reads; its type is older than const.
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
      stream_.avail_in = static_cast<uInt>(rest.size());
      const int status = ::inflate(&stream_, Z_NO_FLUSH);
      packed_.skip(rest.size() - stream_.avail_in);
      if (status == Z_STREAM_END)
        within_ = false;
      else if (status != Z_OK && status != Z_BUF_ERROR)
        return damaged(packed_.name(), stream_.msg != nullptr ? stream_.msg : "not gzip");
    }
    return into.size() - stream_.avail_out;
  }
  bool is_cut() const override { return within_; }

private:
  Packed packed_;
  z_stream stream_ = {};
  bool within_ = true;
};

class Unzstd final : public Unpacker {
public:
  explicit Unzstd(Packed packed) : packed_(std::move(packed)), stream_(::ZSTD_createDStream()) {
    SONICTRACE_CHECK(stream_ != nullptr, "zstd has no memory");
  }
  ~Unzstd() override { ::ZSTD_freeDStream(stream_); }
  Unzstd(const Unzstd&) = delete;
  Unzstd& operator=(const Unzstd&) = delete;

  Result<std::size_t> read(std::span<char> into) override {
    ZSTD_outBuffer out = {into.data(), into.size(), 0};
    while (out.pos == 0) {
      auto more = packed_.refill();
      if (!more) return more.error();
      // At the end there may be more to give out of what was read (zstd.h).
      if (!*more && !full_) break;
      const auto rest = packed_.rest();
      ZSTD_inBuffer in = {rest.data(), rest.size(), 0};
      const std::size_t status = ::ZSTD_decompressStream(stream_, &out, &in);
      if (::ZSTD_isError(status) != 0) return damaged(packed_.name(), ::ZSTD_getErrorName(status));
      packed_.skip(in.pos);
      within_ = status != 0;
      full_ = out.pos == out.size;
    }
    return out.pos;
  }
  bool is_cut() const override { return within_; }

private:
  Packed packed_;
  ZSTD_DStream* stream_;
  bool within_ = true;
  bool full_ = false; ///< the last output was, so that there may be more
};

} // namespace

Result<std::size_t> read_some(int fd, std::span<char> into, const std::string& name) {
  for (;;) {
    const ssize_t n = ::read(fd, into.data(), into.size());
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR) return Error::from_errno("can't read " + name);
  }
}

std::unique_ptr<Unpacker> make_unpacker(int fd, std::string begun, std::string name) {
  const std::string_view first = begun;
  const bool gzip = first.starts_with("\x1f\x8b"); // RFC 1952
  const bool zstd =
      first.starts_with("\x28\xb5\x2f\xfd") || // RFC 8878
      (first.size() >= 4 && (first[0] & 0xf0) == 0x50 && first.substr(1, 3) == "\x2a\x4d\x18");
  if (!gzip && !zstd) return nullptr;
  Packed packed(fd, std::move(begun), std::move(name));
  if (gzip) return std::make_unique<Gunzip>(std::move(packed));
  return std::make_unique<Unzstd>(std::move(packed));
}

} // namespace sonictrace::log
