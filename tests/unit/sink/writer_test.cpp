#include "sonictrace/sink/writer.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>

#include "support/log_fixture.hpp"

namespace sonictrace {
namespace {

UniqueFd full_disk() { return UniqueFd(::open("/dev/full", O_WRONLY | O_CLOEXEC)); }

/// What the fd of `writer` was is from now on the file `to`.
void replace(int fd, const UniqueFd& to) { ASSERT_EQ(::dup3(to.get(), fd, O_CLOEXEC), fd); }

struct Pipe {
  UniqueFd read_end, write_end;
  explicit Pipe(int flags = 0) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC | flags), 0);
    read_end = UniqueFd(ends[0]);
    write_end = UniqueFd(ends[1]);
  }
};

TEST(Writer, keeps_text_back_until_a_block_is_full_or_it_is_flushed) {
  const UniqueFd file = memory_file();
  Writer writer(UniqueFd(::dup(file.get())));

  writer.text() += "one line\n";
  writer.end_line();
  writer.end_batch();
  EXPECT_EQ(content_of(file.get()), "");
  EXPECT_EQ(writer.size(), 9u);

  writer.flush();
  EXPECT_EQ(content_of(file.get()), "one line\n");
  EXPECT_EQ(writer.size(), 9u);

  writer.text() += std::string(300'000, 'x');
  writer.end_line();
  EXPECT_EQ(content_of(file.get()).size(), 300'009u);
}

TEST(Writer, writes_each_batch_where_somebody_looks_on) {
  const UniqueFd file = memory_file();
  Writer writer(UniqueFd(::dup(file.get())), Buffering::Immediate);

  writer.text() += "half a line";
  writer.end_batch();

  EXPECT_EQ(content_of(file.get()), "half a line");
}

TEST(Writer, reports_a_full_disk_once_and_by_name) {
  Writer writer(full_disk(), Buffering::Blocks, "a.log");

  writer.text() += "x\n";
  writer.flush();

  EXPECT_FALSE(writer.is_healthy());
  ASSERT_FALSE(writer.status());
  EXPECT_EQ(writer.status().error().message(), "can't write a.log: No space left on device");
}

TEST(Writer, keeps_what_it_could_not_write_and_the_first_error) {
  UniqueFd disk = full_disk();
  const int fd = disk.get();
  const UniqueFd file = memory_file();
  Writer writer(std::move(disk));
  writer.text() += "first\n";
  writer.flush();
  writer.text() += "second\n";
  replace(fd, file); // there is room again

  writer.flush();

  EXPECT_EQ(content_of(file.get()), "first\nsecond\n");
  ASSERT_FALSE(writer.status());
  EXPECT_TRUE(writer.status().error().is(std::errc::no_space_on_device));
}

TEST(Writer, leaves_no_gap_once_it_had_to_drop_text) {
  UniqueFd disk = full_disk();
  const int fd = disk.get();
  const UniqueFd file = memory_file();
  Writer writer(std::move(disk));
  for (int n = 0; n < 100; ++n) {
    writer.text() += std::string(100'000, 'x');
    writer.end_line();
  }
  EXPECT_LT(writer.text().size(), 6'000'000u) << "memory is bounded";
  replace(fd, file);

  writer.text() += "later\n";
  writer.flush();

  EXPECT_EQ(content_of(file.get()), "");
}

TEST(Writer, reports_a_closed_pipe) {
  const auto previous = std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  Writer writer(std::move(pipe.write_end));
  pipe.read_end = UniqueFd();

  writer.text() += "x\n";
  writer.flush();

  ASSERT_FALSE(writer.status());
  EXPECT_TRUE(writer.status().error().is(std::errc::broken_pipe));
  std::signal(SIGPIPE, previous);
}

TEST(Writer, goes_on_after_partial_writes_to_a_pipe_that_is_full) {
  for (const int flags : {0, O_NONBLOCK}) {
    Pipe pipe(flags);
    std::string read;
    std::thread reader([&] {
      ::fcntl(pipe.read_end.get(), F_SETFL, 0); // the reader may block
      char buffer[1000];
      ssize_t n = 0;
      while ((n = ::read(pipe.read_end.get(), buffer, sizeof buffer)) > 0)
        read.append(buffer, static_cast<std::size_t>(n));
    });
    std::string expected;
    {
      Writer writer(std::move(pipe.write_end));
      for (int n = 0; n < 100'000; ++n) {
        const std::string line = "line " + std::to_string(n) + "\n";
        expected += line;
        writer.text() += line;
        writer.end_line();
      }
      writer.flush();
      EXPECT_TRUE(writer.is_healthy());
    } // closes the pipe
    reader.join();
    EXPECT_TRUE(read == expected);
  }
}

/// SIGALRM for this process, a hundred times a second, as a signal that interrupts write(2).
class Ticks {
public:
  Ticks() {
    struct sigaction action = {};
    action.sa_handler = [](int) {};
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGALRM, &action, &old_);
    const itimerval often = {{0, 10'000}, {0, 10'000}};
    ::setitimer(ITIMER_REAL, &often, nullptr);
  }
  ~Ticks() {
    const itimerval never = {};
    ::setitimer(ITIMER_REAL, &never, nullptr);
    ::sigaction(SIGALRM, &old_, nullptr);
  }
  Ticks(const Ticks&) = delete;

private:
  struct sigaction old_ = {};
};

/// More than a pipe holds, in lines.
std::string much_text() {
  std::string text;
  for (int n = 0; text.size() < 1'000'000; ++n)
    text += "line " + std::to_string(n) + "\n";
  return text;
}

/// Until the other end is closed.
std::string read_all(int fd) {
  std::string text(2'000'000, '\0');
  std::size_t size = 0;
  ssize_t n = 0;
  while ((n = ::read(fd, text.data() + size, text.size() - size)) != 0)
    if (n > 0) size += static_cast<std::size_t>(n);
  text.resize(size);
  return text;
}

TEST(Writer, comes_back_from_a_reader_who_stalls_when_a_signal_arrives_and_loses_nothing) {
  for (const int flags : {0, O_NONBLOCK}) {
    Pipe pipe(flags);
    const std::string text = much_text();
    std::string read;
    std::thread reader;
    {
      const Ticks ticks;
      Writer writer(std::move(pipe.write_end), Buffering::Blocks, "a.log");
      writer.text() += text;
      for (int n = 0; n < 3; ++n)
        writer.end_line(); // the first is interrupted, the others leave it alone
      writer.flush();
      EXPECT_TRUE(writer.is_healthy());
      EXPECT_EQ(writer.size(), text.size());
      EXPECT_GT(writer.text().size(), text.size() / 2) << "the pipe has not stalled";

      ::fcntl(pipe.read_end.get(), F_SETFL, 0);
      reader = std::thread([&] { read = read_all(pipe.read_end.get()); });
      while (!writer.text().empty())
        writer.flush();
      writer.finish();
      EXPECT_TRUE(writer.status());
    }
    reader.join();
    EXPECT_TRUE(read == text);
  }
}

TEST(Writer, says_that_the_log_is_cut_when_its_end_cannot_be_written_before_a_signal) {
  for (const auto compression : {Compression::None, Compression::Gzip}) {
    Pipe pipe;
    ::fcntl(pipe.write_end.get(), F_SETPIPE_SZ, 4096);
    const Ticks ticks;
    Writer writer(std::move(pipe.write_end), Buffering::Blocks, "a.log", compression);
    writer.text() += much_text();

    writer.finish();

    ASSERT_FALSE(writer.status());
    EXPECT_EQ(writer.status().error().message(),
              "can't write a.log: its reader does not read, so the log is cut");
    writer.finish(); // does not wait again
  }
}

TEST(Writer, keeps_no_more_than_so_much_for_a_reader_who_stalls) {
  Pipe pipe;
  const Ticks ticks;
  Writer writer(std::move(pipe.write_end), Buffering::Blocks, "a.log");
  const std::string text = much_text();
  for (int n = 0; n < 100 && writer.is_healthy(); ++n) {
    writer.text() += text;
    writer.flush();
  }
  ASSERT_FALSE(writer.status());
  EXPECT_EQ(writer.status().error().message(), "can't write a.log: its reader does not read");
  EXPECT_TRUE(writer.text().empty());
}

TEST(OpenLog, creates_or_truncates) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("sonictrace-writer-" + std::to_string(::getpid()) + ".log");
  for (int round = 0; round < 2; ++round) {
    const auto fd = open_log(path.string());
    ASSERT_TRUE(fd);
    EXPECT_EQ(content_of(fd->get()), "");
    EXPECT_EQ(::write(fd->get(), "old", 3), 3);
    EXPECT_EQ(::fcntl(fd->get(), F_GETFD), FD_CLOEXEC);
  }
  std::filesystem::remove(path);
}

TEST(OpenLog, says_in_one_line_what_failed) {
  const auto fd = open_log("/nonexistent/x");

  ASSERT_FALSE(fd);
  EXPECT_EQ(fd.error().message(),
            "can't open /nonexistent/x for writing: No such file or directory");
}

TEST(TextSink, reports_a_failure_to_write) {
  TextSink sink(Writer(full_disk()), whole_form(), false);
  RecordBuilder build(sink);
  build.call(1, build.function("int f();"));
  EXPECT_TRUE(sink.is_healthy());

  sink.tick(build.now_ns);
  EXPECT_FALSE(sink.is_healthy());

  const auto result = sink.finish({});
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().is(std::errc::no_space_on_device));
}

TEST(TextSink, writes_what_is_pending_where_it_is_not_finished) {
  const UniqueFd file = memory_file();
  {
    TextSink sink(Writer(UniqueFd(::dup(file.get()))), whole_form(), false);
    RecordBuilder build(sink);
    build.call(1, build.function("int f();"));
  }
  EXPECT_EQ(content_of(file.get()), "f()                                              = 0\n");
}

TEST(TextSink, keeps_whole_lines_before_the_place_where_a_disk_was_full) {
  // RLIMIT_FSIZE makes write stop within a line, as a full disk does, then fail with EFBIG.
  const auto previous = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old = {};
  ::getrlimit(RLIMIT_FSIZE, &old);
  const UniqueFd file = memory_file();
  TextSink sink(Writer(UniqueFd(::dup(file.get()))), whole_form(), false);
  RecordBuilder build(sink);
  const auto f = build.function("int f();");
  for (int n = 0; n < 100; ++n)
    build.call(1, f);
  rlimit limit = old;
  limit.rlim_cur = 1000;
  ::setrlimit(RLIMIT_FSIZE, &limit);

  sink.tick(build.now_ns);

  EXPECT_FALSE(sink.is_healthy());
  EXPECT_EQ(content_of(file.get()).size(), 1000u);
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, previous);
  EXPECT_FALSE(sink.finish({}));
  std::string expected;
  for (int n = 0; n < 100; ++n)
    expected += "f()                                              = 0\n";
  EXPECT_EQ(content_of(file.get()), expected) << "what could be written later follows";
}

} // namespace
} // namespace sonictrace
