/** Time zones that PostgreSQL reads in another way than Node, or not at all: then it stored no usage of the organization. */
export const timeZones = `
-- PostgreSQL takes these names for an offset without daylight saving time. The IANA database links them to these zones.
update organizations set time_zone = case upper(time_zone)
    when 'EET' then 'Europe/Athens' when 'WET' then 'Europe/Lisbon' else 'Europe/Brussels' end
  where upper(time_zone) in ('CET', 'EET', 'MET', 'WET');
update organizations set time_zone = 'UTC'
  where lower(time_zone) not in (select lower(name) from pg_timezone_names);
`
