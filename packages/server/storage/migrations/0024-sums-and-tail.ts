const INPUT = 'uncached_input_tokens::bigint + cache_read_tokens + cache_write_tokens'
const OUTPUT = 'output_tokens::bigint + reasoning_tokens'
const MAX = '9223372036854775807'

/** Sums rows of usage_records for an environment (neither key nor end user), a key and an end user. */
const sumOf = (source: string): string => `
  select org_id, case grouping(key_id, end_user_id) when 3 then 'environment' when 1 then 'key' else 'end_user' end,
    coalesce(key_id::text, end_user_id, '') collate "C", environment_id, date_trunc('hour', at, 'UTC'), sandbox,
    count(*), count(*) filter (where status < 400 or ${INPUT} + ${OUTPUT} > 0),
    sum(${INPUT}), sum(${OUTPUT}), least(coalesce(sum(cost_nano_usd), 0), ${MAX}), max(at)
  from ${source}
  group by grouping sets ((1, 4, 5, 6), (1, 4, 5, 6, key_id), (1, 4, 5, 6, end_user_id))
  having grouping(key_id, end_user_id) = 3 or coalesce(key_id::text, end_user_id) is not null`

/** On a partition too: a statement for the parent fires only that of the parent, and one for a partition only its own. */
const TRIGGER = `create or replace trigger add_to_meter_rollups after insert on %I
  referencing new table as stored for each statement execute function add_to_meter_rollups()`

/**
 * Sums of the usage records by hour, from which limits read what was used before their counters existed; the order in which requests
 * were stored, for the live tail; and an index over the size of kept answers.
 */
export const sumsAndTail = `
-- In the order of a transaction that stores records: one that had written to the log, and then waited for the usage records, would be in a
-- deadlock with the changes of the log below. Both can be read until then.
lock table request_logs, usage_records in share row exclusive mode;

-- For each UTC hour the requests of an environment, of a key and of an end user: what a limit selects by. A trigger adds every record that
-- is stored, by whatever version of the program, in the transaction that stores it.
create table if not exists meter_rollups (
  org_id uuid not null,
  -- 'environment': all requests of the environment. 'key', 'end_user': those of one.
  kind text collate "C" not null,
  -- The key's id, the end user's external id, or ''.
  ref text collate "C" not null,
  environment_id uuid not null,
  hour timestamptz not null,
  sandbox boolean not null,
  requests bigint not null,
  -- What quotas count: requests that were answered or generated anything.
  served_requests bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  -- The cost of requests with a known price.
  cost_nano_usd bigint not null,
  -- The time of the newest request.
  last_at timestamptz not null
) with (fillfactor = 80);

create or replace function add_to_meter_rollups() returns trigger language plpgsql as $$
begin
  -- In the order of the key, so that concurrent writers cannot deadlock.
  insert into meter_rollups as r ${sumOf('stored')} order by 1, 2, 3, 4, 5, 6
    on conflict (org_id, kind, ref, environment_id, hour, sandbox) do update set
    requests = r.requests + excluded.requests,
    served_requests = r.served_requests + excluded.served_requests,
    input_tokens = r.input_tokens + excluded.input_tokens,
    output_tokens = r.output_tokens + excluded.output_tokens,
    cost_nano_usd = least(r.cost_nano_usd::numeric + excluded.cost_nano_usd, ${MAX}),
    last_at = greatest(r.last_at, excluded.last_at);
  return null;
end $$;

create or replace function make_partition(parent text, child text, from_at timestamptz, to_at timestamptz) returns void
language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('rideau.make_partition', 0));
  if exists (select from pg_class where relname = child and relnamespace = current_schema()::regnamespace) then
    return;
  end if;
  execute format('create table %I (like %I including all)', child, parent);
  if parent = 'usage_records' then execute format('${TRIGGER}', child); end if;
  execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, child, from_at, to_at);
end $$;

-- No writer runs, so each record is summed once: here or by the trigger.
do $$
declare
  name text;
begin
  for name in select 'usage_records' union all
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'usage_records'::regclass
  loop
    execute format('${TRIGGER}', name);
  end loop;
end $$;
truncate meter_rollups;
alter table meter_rollups drop constraint if exists meter_rollups_pkey;
insert into meter_rollups ${sumOf('usage_records')};
alter table meter_rollups add primary key (org_id, kind, ref, environment_id, hour, sandbox);
analyze meter_rollups;

-- When the row was sent to the database; null in rows from before. Whole milliseconds, as programs read it (storage/records/storing.ts).
alter table request_logs add column if not exists stored_at timestamptz;
alter table request_logs alter column stored_at set default date_trunc('milliseconds', statement_timestamp());
create index if not exists request_logs_stored on request_logs (environment_id, stored_at, id) where stored_at is not null;
drop index if exists request_logs_ended;

-- The bytes of each environment's answers, without a look at the rows, which have the short answers in them.
create index if not exists idempotent_answers_bytes on idempotent_answers (environment_id, expires_at) include (answer_bytes)
  where expires_at is not null;
`
