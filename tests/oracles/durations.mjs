// durations.mjs NODE_MODULES LOG: what DuckDB, HdrHistogram and DDSketch say of the calls of a log, as JSON.
//
// DuckDB takes the lines apart by regular expressions of its own: lines that end in a time, of the forms
// `[TID ]TIME[/TID] NAME(..) = .. <T>` and `[TID ]TIME[/TID] <... NAME resumed> .. <T>`.
import { createRequire } from "node:module";
import process from "node:process";

const [modules, log] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const { DuckDBInstance } = require("@duckdb/node-api");
const { DDSketch } = require("@datadog/sketches-js");
const hdr = require("hdr-histogram-js");

const instance = await DuckDBInstance.create(":memory:", { threads: "2" });
const db = await instance.connect();
const quoted = log.replaceAll("'", "''");
await db.run(`
  create table calls as
  with lines as (
    select line, regexp_extract(line, '^(?:[0-9]+ +)?[0-9:.]+(?:/[0-9]+)? (.*) <[0-9]+[.][0-9]+>$', 1) as call,
           replace(regexp_extract(line, ' <([0-9]+[.][0-9]+)>$', 1), '.', '') as digits,
           length(regexp_extract(line, '[.]([0-9]+)>$', 1)) as places
    from read_csv('${quoted}', columns = {'line': 'varchar'}, delim = '\\x01', quote = '', escape = '',
                  header = false, auto_detect = false, max_line_size = 16777216))
  select regexp_extract(call, '^(?:<[.]{3} (.+?) resumed> |([^(@]+)[(@])', 1) ||
         regexp_extract(call, '^(?:<[.]{3} (.+?) resumed> |([^(@]+)[(@])', 2) as name,
         digits::bigint * (case places when 9 then 1 else 1000 end) as ns
  from lines where call != ''`);
const rows = (await db.runAndReadAll(`
  select name, count(*)::varchar, sum(ns)::varchar, min(ns)::varchar, max(ns)::varchar,
         quantile_disc(ns, 0.5)::varchar, quantile_disc(ns, 0.9)::varchar, quantile_disc(ns, 0.99)::varchar
  from calls group by name`)).getRows();

const says = {};
for (const [name, calls, sum, min, max, p50, p90, p99] of rows) {
  const duckdb = { calls, sum, min, max, p50, p90, p99 };
  for (const key of Object.keys(duckdb)) duckdb[key] = Number(duckdb[key]);
  says[name] = { duckdb };
}
// The same durations, given to the sketches.
const sketches = new Map();
const all = await db.runAndReadAll("select name, ns::double from calls");
for (const [name, ns] of all.getRows()) {
  let both = sketches.get(name);
  if (both === undefined) {
    both = {
      hdr: hdr.build({ lowestDiscernibleValue: 1, highestTrackableValue: 1e13, numberOfSignificantValueDigits: 3 }),
      ddsketch: new DDSketch({ relativeAccuracy: 0.001 }),
    };
    sketches.set(name, both);
  }
  both.hdr.recordValue(ns);
  both.ddsketch.accept(ns);
}
for (const [name, both] of sketches) {
  const quantiles = (of) => ({ p50: of(0.5), p90: of(0.9), p99: of(0.99) });
  says[name].hdr = quantiles((q) => both.hdr.getValueAtPercentile(100 * q));
  says[name].ddsketch = quantiles((q) => both.ddsketch.getValueAtQuantile(q));
}
console.log(JSON.stringify(says));
