-- `sonicreport top` of all hosts and runs: calls, times and percentiles are the same to the nanosecond.
-- A percentile is the middle of a bucket, within the shortest and the longest call; where it is the very last
-- call, that one's time.
SELECT
    func, lib, sum(calls) AS all_calls, sum(sum_ns) AS all_ns, sum(self_ns) AS all_self_ns,
    max(max_ns) AS longest_ns,
    quantilesExactWeightedArrayMerge(0.5, 0.9, 0.99)(durations) AS middles,
    if(sum(timed) < 100, longest_ns, greatest(min(min_ns), least(longest_ns, middles[3]))) AS p99_ns
FROM sonictrace.functions
GROUP BY func, lib
ORDER BY all_self_ns DESC
