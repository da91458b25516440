/** How partitions of request_logs (a day each) and usage_records (a month each) are created. See storage/records/partitions.ts. */
export const partitions = `
-- Creates the partition of a table for [from_at, to_at) unless it exists. A new table is created and then attached,
-- which does not block reads and writes of the parent. The lock serializes callers: concurrent inserts of a new day
-- create its partition once.
create function make_partition(parent text, child text, from_at timestamptz, to_at timestamptz) returns void
language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('rideau.make_partition', 0));
  if exists (select from pg_class where relname = child and relnamespace = current_schema()::regnamespace) then
    return;
  end if;
  execute format('create table %I (like %I including all)', child, parent);
  execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, child, from_at, to_at);
end $$;
`
