#include "sonictrace/publish/kafka_producer.hpp"

#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

#include <array>
#include <optional>

namespace sonictrace::publish {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kPollMs = 100; ///< between two looks at the clock, while nothing happens

constexpr int kAskMs = 1000;

/// Of one record, and not of the brokers: the next one may be fine.
bool is_of_the_record(rd_kafka_resp_err_t error) {
  return error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE ||
         error == RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE || error == RD_KAFKA_RESP_ERR_INVALID_RECORD;
}

void say_nothing(const rd_kafka_t*, int, const char*, const char*) {}

} // namespace

struct KafkaProducer::Impl {
  struct Destroy {
    void operator()(rd_kafka_t* owned) const { rd_kafka_destroy(owned); }
    void operator()(rd_kafka_topic_t* owned) const { rd_kafka_topic_destroy(owned); }
  };

  explicit Impl(const KafkaOptions& of) : options(of) {}
  ~Impl() {
    if (kafka == nullptr || rd_kafka_outq_len(kafka.get()) == 0) return;
    // Or it would be tried to send them still, and their reports come to an object that is gone.
    purge();
  }

  // Both are called by rd_kafka_poll, in the thread of its caller (rdkafka.h).
  static void on_report(rd_kafka_t*, const rd_kafka_message_t* message, void* impl) {
    static_cast<Impl*>(impl)->report(message->err);
  }
  static void on_error(rd_kafka_t*, int code, const char* reason, void* impl) {
    // That all of them are down tells less than why the last one is.
    if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) return;
    std::string_view text(reason);
    // What librdkafka adds is about itself: (after 0ms in state CONNECT, 1 identical error(s) ...
    text = text.substr(0, text.rfind(" (after "));
    static_cast<Impl*>(impl)->trouble = text;
  }

  void report(rd_kafka_resp_err_t error) {
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
      ++delivered;
      last_progress = Clock::now();
      return;
    }
    ++dropped;
    if (is_of_the_record(error))
      refuse(error);
    else
      // A fatal one has been told by on_error already, in more words.
      give_up(error == RD_KAFKA_RESP_ERR__FATAL && !trouble.empty() ? trouble
                                                                    : rd_kafka_err2str(error));
  }
  void refuse(rd_kafka_resp_err_t error) {
    last_progress = Clock::now(); // it was answered
    if (refusal.empty()) refusal = rd_kafka_err2str(error);
  }
  void give_up(std::string why) {
    if (is_given_up) return;
    is_given_up = true;
    reason = std::move(why);
  }
  void purge() {
    rd_kafka_purge(kafka.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_flush(kafka.get(), 1000); // tells of each that it is gone
  }
  /// Hears what became of records, and looks whether it has been too long since one was taken.
  void poll(int wait_ms) {
    rd_kafka_poll(kafka.get(), wait_ms);
    const auto waited = Clock::now() - last_progress;
    if (rd_kafka_outq_len(kafka.get()) > 0 && waited > options.patience)
      give_up(fmt::format("no record was taken for {:.3g} s: {}",
                          std::chrono::duration<double>(waited).count(),
                          trouble.empty() ? what_of_the_topic() : trouble));
  }
  /// Where connections are well: what the brokers say of the topic when they are asked.
  std::string what_of_the_topic() const {
    const rd_kafka_metadata_t* metadata = nullptr;
    const auto error = rd_kafka_metadata(kafka.get(), 0, topic.get(), &metadata, kAskMs);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return rd_kafka_err2str(error);
    std::string text = "the brokers do not say why";
    for (int i = 0; i < metadata->topic_cnt; ++i)
      if (metadata->topics[i].err != RD_KAFKA_RESP_ERR_NO_ERROR)
        text = rd_kafka_err2str(metadata->topics[i].err);
    rd_kafka_metadata_destroy(metadata);
    return text;
  }
  /// The error, the first time that it is asked for.
  std::optional<Error> error() {
    if (!is_given_up || is_told) return std::nullopt;
    is_told = true;
    purge();
    return Error::saying(
        fmt::format("kafka://{}/{}: given up: {}", options.brokers, options.topic, reason));
  }

  KafkaOptions options;
  std::uint64_t delivered = 0, dropped = 0;
  std::string trouble; ///< what a connection said last
  std::string refusal, reason;
  bool is_given_up = false, is_told = false;
  Clock::time_point last_progress = Clock::now();
  // Behind what its reports go to.
  std::unique_ptr<rd_kafka_t, Destroy> kafka;
  std::unique_ptr<rd_kafka_topic_t, Destroy> topic;
};

KafkaProducer::KafkaProducer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
KafkaProducer::KafkaProducer(KafkaProducer&& other) noexcept = default;
KafkaProducer& KafkaProducer::operator=(KafkaProducer&& other) noexcept = default;
KafkaProducer::~KafkaProducer() = default;

Result<KafkaProducer> KafkaProducer::make(const KafkaOptions& options) {
  auto impl = std::make_unique<Impl>(options);
  KafkaSettings settings = {
      {"bootstrap.servers", options.brokers},
      {"client.id", "sonicreport"},
      // Each record once and in order, also where an acknowledgement was lost.
      {"enable.idempotence", "true"},
      {"compression.type", "zstd"},
      {"linger.ms", "50"}, // larger batches: a record is a few hundred bytes
      {"queue.buffering.max.kbytes", fmt::format("{}", kQueueBytes / 1024)},
      {"queue.buffering.max.messages", fmt::format("{}", kQueueRecords)},
      {"message.timeout.ms", "0"}, // never: poll() looks whether anything goes on at all
  };
  settings.insert(settings.end(), options.settings.begin(), options.settings.end());
  std::array<char, 512> why{};
  std::unique_ptr<rd_kafka_conf_t, decltype(&rd_kafka_conf_destroy)> conf(rd_kafka_conf_new(),
                                                                          &rd_kafka_conf_destroy);
  for (const auto& [name, value] : settings)
    if (rd_kafka_conf_set(conf.get(), name.c_str(), value.c_str(), why.data(), why.size()) !=
        RD_KAFKA_CONF_OK)
      return Error::saying(fmt::format("kafka: {}", why.data()));
  rd_kafka_conf_set_opaque(conf.get(), impl.get());
  rd_kafka_conf_set_dr_msg_cb(conf.get(), &Impl::on_report);
  rd_kafka_conf_set_error_cb(conf.get(), &Impl::on_error);
  rd_kafka_conf_set_log_cb(conf.get(), &say_nothing);
  impl->kafka.reset(rd_kafka_new(RD_KAFKA_PRODUCER, conf.get(), why.data(), why.size()));
  if (impl->kafka == nullptr) return Error::saying(fmt::format("kafka: {}", why.data()));
  static_cast<void>(conf.release()); // rd_kafka_new took it
  impl->topic.reset(rd_kafka_topic_new(impl->kafka.get(), options.topic.c_str(), nullptr));
  if (impl->topic == nullptr)
    return Error::saying(
        fmt::format("kafka: topic {}: {}", options.topic, rd_kafka_err2str(rd_kafka_last_error())));
  return KafkaProducer(std::move(impl));
}

Result<void> KafkaProducer::send(std::string_view key, std::string_view record) {
  auto* const kafka = impl_->kafka.get();
  if (rd_kafka_outq_len(kafka) == 0) impl_->last_progress = Clock::now();
  bool is_counted = false; // here, or by a report to come
  while (!impl_->is_given_up && !is_counted) {
    // Its type has no const; a copy is made.
    auto* const copied = const_cast<char*>(record.data());
    const bool is_queued =
        rd_kafka_produce(impl_->topic.get(), RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY, copied,
                         record.size(), key.data(), key.size(), nullptr) == 0;
    const auto error = is_queued ? RD_KAFKA_RESP_ERR_NO_ERROR : rd_kafka_last_error();
    if (error == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
      impl_->poll(kPollMs);
      continue;
    }
    is_counted = true;
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR)
      impl_->poll(0);
    else
      impl_->report(error);
  }
  if (!is_counted) ++impl_->dropped;
  if (auto error = impl_->error()) return *error;
  return {};
}

Result<void> KafkaProducer::finish() {
  while (!impl_->is_given_up && rd_kafka_outq_len(impl_->kafka.get()) > 0)
    impl_->poll(kPollMs);
  if (auto error = impl_->error()) return *error;
  return {};
}

std::uint64_t KafkaProducer::delivered() const { return impl_->delivered; }
std::uint64_t KafkaProducer::dropped() const { return impl_->dropped; }
const std::string& KafkaProducer::refusal() const { return impl_->refusal; }

} // namespace sonictrace::publish
