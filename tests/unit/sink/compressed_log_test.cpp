#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <string>

#include "sonictrace/sink/writer.hpp"
#include "support/log_fixture.hpp"

namespace sonictrace {
namespace {

/// What a reader gets that goes as far as it can.
struct Read {
  std::string text;
  bool ended = false; ///< the stream has its end
};

Read read_zstd(const std::string& stream) {
  ZSTD_DCtx* const context = ZSTD_createDCtx();
  Read read;
  ZSTD_inBuffer in = {stream.data(), stream.size(), 0};
  std::string piece(std::size_t{1} << 17, '\0');
  for (;;) {
    ZSTD_outBuffer out = {piece.data(), piece.size(), 0};
    const std::size_t left = ZSTD_decompressStream(context, &out, &in);
    if (ZSTD_isError(left) != 0) break;
    read.text.append(piece, 0, out.pos);
    read.ended = left == 0;
    if (in.pos == in.size && out.pos < out.size) break;
  }
  ZSTD_freeDCtx(context);
  return read;
}

Read read_gzip(const std::string& stream) {
  z_stream state = {};
  EXPECT_EQ(::inflateInit2(&state, MAX_WBITS + 16), Z_OK);
  std::string input = stream;
  state.next_in = reinterpret_cast<Bytef*>(input.data());
  state.avail_in = static_cast<uInt>(input.size());
  Read read;
  std::string piece(std::size_t{1} << 17, '\0');
  int status = Z_OK;
  do {
    state.next_out = reinterpret_cast<Bytef*>(piece.data());
    state.avail_out = static_cast<uInt>(piece.size());
    status = ::inflate(&state, Z_NO_FLUSH);
    read.text.append(piece, 0, piece.size() - state.avail_out);
  } while (status == Z_OK);
  read.ended = status == Z_STREAM_END;
  ::inflateEnd(&state);
  return read;
}

struct Form {
  const char* name;
  Compression compression;
  Read (*read)(const std::string&);
};

void PrintTo(const Form& form, std::ostream* out) { *out << form.name; }

class CompressedLog : public testing::TestWithParam<Form> {
protected:
  Writer writer() {
    return Writer(UniqueFd(::dup(file_.get())), Buffering::Blocks, "a.log", GetParam().compression);
  }
  std::string content() const { return content_of(file_.get()); }
  Read read() const { return GetParam().read(content()); }
  std::uint64_t file_size() const { return content().size(); }

private:
  UniqueFd file_ = memory_file();
};

/// Text that does not compress to nothing.
std::string numbered_lines(int from, int to) {
  std::string text;
  for (int n = from; n < to; ++n)
    text += "line " + std::to_string(n * 7919) + " of the log\n";
  return text;
}

TEST_P(CompressedLog, is_the_text_when_it_has_ended) {
  Writer log = writer();
  std::string expected;
  for (int n = 0; n < 100; ++n) {
    const std::string lines = numbered_lines(n * 1000, n * 1000 + 1000);
    log.text() += lines;
    log.end_line();
    expected += lines;
  }

  log.finish();

  EXPECT_TRUE(read().ended);
  EXPECT_EQ(read().text, expected);
  EXPECT_LT(file_size(), expected.size() / 2);
  EXPECT_TRUE(log.status());
}

TEST_P(CompressedLog, can_be_read_up_to_the_last_flush_without_an_end) {
  Writer log = writer();
  log.text() += "first\n";
  log.flush();
  EXPECT_EQ(read().text, "first\n");
  log.flush(); // nothing new
  log.text() += "second\n";
  log.flush();
  log.text() += "never flushed\n";

  EXPECT_EQ(read().text, "first\nsecond\n");
  EXPECT_FALSE(read().ended);
}

TEST_P(CompressedLog, shows_at_a_flush_what_full_blocks_have_kept_back) {
  Writer log = writer();
  const std::string lines = numbered_lines(0, 20'000);
  log.text() += lines;
  log.end_line();
  EXPECT_TRUE(log.text().empty());

  log.flush(); // with no text of its own

  EXPECT_EQ(read().text, lines);
}

TEST_P(CompressedLog, grows_by_nothing_when_nothing_is_written) {
  Writer log = writer();
  log.text() += "a line\n";
  log.flush();
  const auto size = file_size();

  for (int n = 0; n < 100; ++n)
    log.flush();

  EXPECT_EQ(file_size(), size);
  EXPECT_EQ(log.size(), size);
}

TEST_P(CompressedLog, of_nothing_is_a_stream_of_nothing) {
  Writer log = writer();
  log.finish();
  log.finish();

  EXPECT_TRUE(read().ended);
  EXPECT_EQ(read().text, "");
}

TEST_P(CompressedLog, has_the_size_that_the_file_has) {
  Writer log = writer();
  log.text() += numbered_lines(0, 50'000);
  log.flush();

  EXPECT_EQ(log.size(), file_size());
  EXPECT_LT(log.size(), 500'000u);
}

TEST_P(CompressedLog, that_was_cut_anywhere_reads_as_the_beginning_of_the_text) {
  Writer log = writer();
  std::string expected;
  for (int n = 0; n < 20; ++n) {
    const std::string lines = numbered_lines(n * 500, n * 500 + 500);
    log.text() += lines;
    log.flush();
    expected += lines;
  }

  // What a full disk or a kill leaves.
  const std::string stream = content();
  EXPECT_EQ(GetParam().read(stream).text, expected);
  std::size_t longest = 0;
  for (std::size_t size = 0; size < stream.size(); size += 997) {
    const std::string text = GetParam().read(stream.substr(0, size)).text;
    EXPECT_TRUE(expected.starts_with(text)) << "cut at " << size;
    longest = std::max(longest, text.size());
  }
  EXPECT_GT(longest, expected.size() * 9 / 10);
}

TEST_P(CompressedLog, gets_no_gap_by_a_disk_that_was_full_for_a_moment) {
  UniqueFd disk(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  const int fd = disk.get();
  const UniqueFd file = memory_file();
  Writer log(std::move(disk), Buffering::Blocks, "a.log", GetParam().compression);
  log.text() += "first\n";
  log.flush();
  EXPECT_FALSE(log.is_healthy());
  log.text() += "second\n";
  ASSERT_EQ(::dup3(file.get(), fd, O_CLOEXEC), fd); // there is room again

  log.finish();

  EXPECT_EQ(GetParam().read(content_of(file.get())).text, "first\nsecond\n");
  EXPECT_TRUE(GetParam().read(content_of(file.get())).ended);
  EXPECT_EQ(log.status().error().message(), "can't write a.log: No space left on device");
}

TEST_P(CompressedLog, of_a_sink_can_be_read_at_each_tick) {
  TextSink sink(writer(), whole_form(), false);
  RecordBuilder build(sink);
  build.call(1, build.function("int f(int);"), {1}, 2);
  sink.tick(build.now_ns);

  EXPECT_EQ(read().text, "f(1)                                             = 2\n");

  EXPECT_TRUE(sink.finish({}));
  EXPECT_TRUE(read().ended);
}

INSTANTIATE_TEST_SUITE_P(Sink, CompressedLog,
                         testing::Values(Form{"zstd", Compression::Zstd, read_zstd},
                                         Form{"gzip", Compression::Gzip, read_gzip}),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(CompressionOf, goes_by_the_end_of_the_name) {
  EXPECT_EQ(compression_of("log"), Compression::None);
  EXPECT_EQ(compression_of("/tmp/a.zst"), Compression::Zstd);
  EXPECT_EQ(compression_of("a.b.gz"), Compression::Gzip);
  EXPECT_EQ(compression_of("a.gz.txt"), Compression::None);
  EXPECT_EQ(compression_of(""), Compression::None);
}

} // namespace
} // namespace sonictrace
