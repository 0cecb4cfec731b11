-- On each server that reads the topic; they share its partitions, as one group of consumers.
CREATE TABLE IF NOT EXISTS sonictrace.queue
(
    run_id String, seq UInt64, ts Nullable(Float64), host String, pid UInt32,
    lib String, func String, class String,
    calls UInt64, timed UInt64, sum_ns UInt64, self_ns UInt64, min_ns UInt64, max_ns UInt64,
    bucket_ns Array(UInt64), bucket_calls Array(UInt64)
)
ENGINE = Kafka
SETTINGS
    kafka_broker_list = 'kafka-1:9092,kafka-2:9092',
    kafka_topic_list = 'sonictrace.calls',
    kafka_group_name = 'sonictrace',
    kafka_format = 'JSONEachRow',
    kafka_row_delimiter = '\n',
    kafka_num_consumers = 1;

-- From there to the server that has the run. Logs without times have no ts, those without a day one near 0.
CREATE MATERIALIZED VIEW IF NOT EXISTS sonictrace.from_queue TO sonictrace.records AS
SELECT
    toDateTime(toUInt32(greatest(ifNull(ts, 0), 0))) AS ts, run_id, host, seq, pid, func, lib, class,
    calls, timed, sum_ns, self_ns, min_ns, max_ns, bucket_ns, bucket_calls
FROM sonictrace.queue;
