#include "sonictrace/probe/image_cache.hpp"

#include <pthread.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <compare>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <map>
#include <thread>

#include "probe/call_table_store.hpp"

namespace sonictrace {
namespace {

struct Identity {
  std::uint64_t device, inode, size, seconds, nanoseconds;
  auto operator<=>(const Identity&) const = default;
};

/// A thread of the tracer takes signals, and no other.
class AllSignalsBlocked {
public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

private:
  sigset_t before_;
};

/// What a planner asks every image for.
void parse_all_of(ParsedImage& parsed) {
  (void)parsed.calls();
  (void)parsed.image().find_export("", {}); // makes the table of exports
}

} // namespace

const Result<elf::CallTable>& ParsedImage::calls() {
  std::call_once(found_, [this] {
    if (store_ != nullptr) {
      if (auto kept = store_->load(*image_)) {
        calls_ = *std::move(kept);
        return;
      }
    }
    // Reading and checking a kept table is worth it only for those that cost more.
    constexpr std::chrono::milliseconds kWorthKeeping(2);
    const auto begin = std::chrono::steady_clock::now();
    calls_ = elf::find_calls(*image_);
    if (store_ != nullptr && *calls_ && std::chrono::steady_clock::now() - begin >= kWorthKeeping)
      store_->keep(*image_, **calls_);
  });
  return *calls_;
}

const names::ScopeFacts& ParsedImage::scopes() {
  std::call_once(scopes_read_, [this] {
    for (const auto* const symbols : {&image_->dynamic_symbols(), &image_->static_symbols()})
      for (const elf::Symbol& symbol : *symbols)
        scopes_.add(symbol.name);
  });
  return scopes_;
}

struct ImageCache::Shared {
  ~Shared() {
    {
      const std::lock_guard lock(mutex);
      to_do.clear();
      ends = true;
    }
    wake.notify_all();
    for (std::thread& thread : threads)
      thread.join();
  }

  Result<std::shared_ptr<ParsedImage>> get(const UniqueFd& file, const std::string& name) {
    struct stat found;
    if (::fstat(file.get(), &found) < 0) return Error::from_errno(name);
    const Identity identity{found.st_dev, found.st_ino, static_cast<std::uint64_t>(found.st_size),
                            static_cast<std::uint64_t>(found.st_mtim.tv_sec),
                            static_cast<std::uint64_t>(found.st_mtim.tv_nsec)};
    {
      const std::lock_guard lock(mutex);
      if (const auto known = images.find(identity); known != images.end()) return known->second;
    }
    auto image = elf::Image::open(file, name);
    if (!image) return std::move(image).error();
    auto parsed = std::make_shared<ParsedImage>(*std::move(image), store);
    const std::lock_guard lock(mutex);
    return images.emplace(identity, std::move(parsed)).first->second; // another thread's, if first
  }

  struct Job {
    std::string path;                    ///< to open
    std::shared_ptr<ParsedImage> parsed; ///< or one that is open
  };

  void add(std::vector<Job> jobs) {
    const std::size_t count =
        std::min<std::size_t>(jobs.size(), std::clamp(std::thread::hardware_concurrency(), 1U, 8U));
    {
      const std::lock_guard lock(mutex);
      std::move(jobs.begin(), jobs.end(), std::back_inserter(to_do));
    }
    const AllSignalsBlocked blocked;
    while (threads.size() < count)
      threads.emplace_back([this] { work(); });
    wake.notify_all();
  }

  void work() {
    for (;;) {
      std::unique_lock lock(mutex);
      wake.wait(lock, [this] { return ends || !to_do.empty(); });
      if (ends) return;
      const Job job = std::move(to_do.front());
      to_do.pop_front();
      lock.unlock();
      if (job.parsed != nullptr) {
        parse_all_of(*job.parsed);
        continue;
      }
      const auto file = UniqueFd::open(job.path.c_str(), O_RDONLY | O_NONBLOCK);
      if (!file) continue;
      if (const auto parsed = get(*file, job.path)) parse_all_of(**parsed);
    }
  }

  std::shared_ptr<const CallTableStore> store;
  std::mutex mutex; ///< of all below but `threads`
  std::condition_variable wake;
  std::map<Identity, std::shared_ptr<ParsedImage>> images;
  std::deque<Job> to_do;
  bool ends = false;
  std::vector<std::thread> threads;
};

ImageCache::ImageCache() : shared_(std::make_unique<Shared>()) {}
ImageCache::ImageCache(ImageCache&&) noexcept = default;
ImageCache& ImageCache::operator=(ImageCache&&) noexcept = default;
ImageCache::~ImageCache() = default;

Result<std::shared_ptr<ParsedImage>> ImageCache::get(const UniqueFd& file,
                                                     const std::string& name) {
  return shared_->get(file, name);
}

void ImageCache::keep_tables_in(const std::string& directory) {
  shared_->store = std::make_shared<const CallTableStore>(directory);
}

void ImageCache::prefetch(std::vector<std::string> paths) {
  std::vector<Shared::Job> jobs;
  for (std::string& path : paths)
    jobs.push_back({std::move(path), nullptr});
  shared_->add(std::move(jobs));
}

void ImageCache::prefetch(std::vector<std::shared_ptr<ParsedImage>> images) {
  std::vector<Shared::Job> jobs;
  for (auto& image : images)
    jobs.push_back({{}, std::move(image)});
  shared_->add(std::move(jobs));
}

std::optional<std::string> default_cache_directory() {
  // A relative path is to be ignored (XDG Base Directory Specification).
  const char* const cache = ::secure_getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return std::string(cache) + "/sonictrace";
  const char* const home = ::secure_getenv("HOME");
  if (home != nullptr && home[0] == '/') return std::string(home) + "/.cache/sonictrace";
  return std::nullopt;
}

} // namespace sonictrace
