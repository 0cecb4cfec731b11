// In place of ../kafka_producer.cpp where there was no librdkafka to build with.
#include "sonictrace/publish/kafka_producer.hpp"

namespace sonictrace::publish {

struct KafkaProducer::Impl {
  std::string refusal;
};

KafkaProducer::KafkaProducer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
KafkaProducer::KafkaProducer(KafkaProducer&& other) noexcept = default;
KafkaProducer& KafkaProducer::operator=(KafkaProducer&& other) noexcept = default;
KafkaProducer::~KafkaProducer() = default;

Result<KafkaProducer> KafkaProducer::make(const KafkaOptions&) {
  return Error::saying("kafka: this program was built without librdkafka; install librdkafka-dev "
                       "and build it again");
}

Result<void> KafkaProducer::send(std::string_view, std::string_view) { return {}; }
Result<void> KafkaProducer::finish() { return {}; }
std::uint64_t KafkaProducer::delivered() const { return 0; }
std::uint64_t KafkaProducer::dropped() const { return 0; }
const std::string& KafkaProducer::refusal() const { return impl_->refusal; }

} // namespace sonictrace::publish
