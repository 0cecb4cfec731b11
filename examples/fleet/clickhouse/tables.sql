-- On each server, before kafka.sql. Names with _local are what one server has, those without are all of it.
CREATE DATABASE IF NOT EXISTS sonictrace;

-- Records as they came. A record that comes again (a producer that was run again, a reader that fell over)
-- is equal to the first in all that it is sorted by, and goes when parts are merged; FINAL leaves it out before.
CREATE TABLE IF NOT EXISTS sonictrace.records_local
(
    ts DateTime, run_id String, host String, seq UInt64, pid UInt32,
    func String, lib String, class String,
    calls UInt64, timed UInt64, sum_ns UInt64, self_ns UInt64, min_ns UInt64, max_ns UInt64,
    bucket_ns Array(UInt64), bucket_calls Array(UInt64)
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(ts)
ORDER BY (func, lib, ts, host, run_id, seq);

-- All servers' records. What is inserted here goes to the server that has the rest of its run, so that a
-- record and its repetition meet. It is kept on this server's disk until that one has it: with
-- insert_distributed_sync a server that is away ends the reading of the topic (in 18.16, until the next start).
CREATE TABLE IF NOT EXISTS sonictrace.records AS sonictrace.records_local
ENGINE = Distributed(sonictrace, sonictrace, records_local, cityHash64(run_id, host));

-- Each function's hours, added up as records come in: states that are merged further, percentiles too.
-- `records` and `sequences` differ where one came twice.
CREATE TABLE IF NOT EXISTS sonictrace.hours_local
(
    func String, lib String, class String, host String, run_id String, hour DateTime,
    records AggregateFunction(count), sequences AggregateFunction(uniqExact, UInt64),
    calls_sum AggregateFunction(sum, UInt64), timed_sum AggregateFunction(sum, UInt64),
    ns_sum AggregateFunction(sum, UInt64), self_sum AggregateFunction(sum, UInt64),
    ns_min AggregateFunction(min, UInt64), ns_max AggregateFunction(max, UInt64),
    durations AggregateFunction(quantilesExactWeightedArray(0.5, 0.9, 0.99), Array(UInt64), Array(UInt64))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(hour)
ORDER BY (func, lib, class, host, run_id, hour);

CREATE MATERIALIZED VIEW IF NOT EXISTS sonictrace.to_hours_local TO sonictrace.hours_local AS
SELECT
    func, lib, class, host, run_id, toStartOfHour(ts) AS hour,
    countState() AS records, uniqExactState(seq) AS sequences,
    sumState(calls) AS calls_sum, sumState(timed) AS timed_sum, sumState(sum_ns) AS ns_sum, sumState(self_ns) AS self_sum,
    minState(if(timed > 0, min_ns, toUInt64(18446744073709551615))) AS ns_min, maxState(max_ns) AS ns_max,
    quantilesExactWeightedArrayState(0.5, 0.9, 0.99)(bucket_ns, bucket_calls) AS durations
FROM sonictrace.records_local
GROUP BY func, lib, class, host, run_id, hour;

-- Each record once: the hours where none came twice, and the others from the records themselves.
CREATE VIEW IF NOT EXISTS sonictrace.functions_local AS
SELECT func, lib, class, host, run_id, hour, calls, timed, sum_ns, self_ns, min_ns, max_ns, durations
FROM
(
    SELECT
        func, lib, class, host, run_id, hour,
        countMerge(records) AS all_records, uniqExactMerge(sequences) AS all_sequences,
        sumMerge(calls_sum) AS calls, sumMerge(timed_sum) AS timed, sumMerge(ns_sum) AS sum_ns,
        sumMerge(self_sum) AS self_ns, minMerge(ns_min) AS min_ns, maxMerge(ns_max) AS max_ns,
        quantilesExactWeightedArrayMergeState(0.5, 0.9, 0.99)(durations) AS durations
    FROM sonictrace.hours_local
    GROUP BY func, lib, class, host, run_id, hour
    HAVING all_records = all_sequences
)
UNION ALL
SELECT
    func, lib, class, host, run_id, hour,
    sum(one_calls) AS calls, sum(one_timed) AS timed, sum(one_sum) AS sum_ns, sum(one_self) AS self_ns,
    min(one_min) AS min_ns, max(one_max) AS max_ns,
    quantilesExactWeightedArrayState(0.5, 0.9, 0.99)(one_bucket_ns, one_bucket_calls) AS durations
FROM
(
    SELECT
        func, lib, class, host, run_id, seq, toStartOfHour(ts) AS hour,
        any(calls) AS one_calls, any(timed) AS one_timed, any(sum_ns) AS one_sum, any(self_ns) AS one_self,
        any(if(timed > 0, min_ns, toUInt64(18446744073709551615))) AS one_min, any(max_ns) AS one_max,
        any(bucket_ns) AS one_bucket_ns, any(bucket_calls) AS one_bucket_calls
    FROM sonictrace.records_local
    WHERE (func, lib, class, host, run_id, toStartOfHour(ts)) IN
    (
        SELECT func, lib, class, host, run_id, hour
        FROM sonictrace.hours_local
        GROUP BY func, lib, class, host, run_id, hour
        HAVING countMerge(records) <> uniqExactMerge(sequences)
    )
    GROUP BY func, lib, class, host, run_id, seq, hour
)
GROUP BY func, lib, class, host, run_id, hour;

-- What questions go to: see top.sql.
CREATE TABLE IF NOT EXISTS sonictrace.functions AS sonictrace.functions_local
ENGINE = Distributed(sonictrace, sonictrace, functions_local);
