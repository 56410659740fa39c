/* schema_buckets.c: tables, functions and views of buckets and of newest values, as SQL.
 *
 * Minutes, hours and days are kept in tables; an hour (UTC) of a device whose samples changed since has a mark, and is computed from
 * its samples wherever it is asked for. Everybody who reads asks the functions minute_of, hour_of and day_of, which put both
 * together; they are of one statement each, so that PostgreSQL plans them as a part of what calls them.
 */
#include "store/postgres/internal.h"

/** Of all three tables, of what is kept and what is computed. */
#define NUMBERS "count, least, greatest, sum, last, last_time"
#define COLUMNS "attribute, time, " NUMBERS
#define RETURNS                                                                                    \
  " RETURNS TABLE (attribute integer, \"time\" timestamptz, count bigint,"                         \
  " \"least\" double precision, \"greatest\" double precision, sum double precision,"              \
  " last double precision, last_time timestamptz) LANGUAGE sql STABLE AS $$"

#define MICROSECONDS(time) "(extract(epoch FROM " time ") * 1000000)"
/** What a device's clock may say at a time (numeric, µs), as a bigint. */
#define CLAMPED(number)                                                                            \
  "least(greatest(" number ", -9223372036854775807), 9223372036854775807)::bigint"

/** Hours of a device that are to be computed. */
#define MARKED "SELECT DISTINCT m.hour FROM tether.marked_hour m WHERE m.device = $1"
/** Whether a bucket is asked for. */
#define WITHIN(start) start " >= $2 AND " start " < $3"
#define SAMPLES_OF_MARKED                                                                          \
  " CROSS JOIN LATERAL tether.value_between($1, h.hour, h.hour + interval '1 hour') v"

/** Kept buckets of a table that lie in no stretch with a marked hour. */
#define KEPT(table, length)                                                                        \
  "SELECT " COLUMNS " FROM tether." table                                                          \
  " k"                                                                                             \
  " WHERE k.device = $1 AND k.time >= $2 AND k.time < $3 AND k.count > 0"                          \
  " AND " TT_POSTGRES_BIN(length, "k.time") " NOT IN (SELECT " TT_POSTGRES_BIN(                    \
      length, "m.hour") " FROM tether.marked_hour m WHERE m.device = $1)"

/** Makes buckets of a stretch anew from smaller ones. */
#define MERGE(to, from, start, length)                                                             \
  "DELETE FROM tether." to " b WHERE b.device = work.device AND b.time = " start                   \
  ";"                                                                                              \
  "INSERT INTO tether." to " (device, time, attribute, " NUMBERS                                   \
  ", newest)"                                                                                      \
  " SELECT work.device, " start ", b.attribute, " TT_POSTGRES_MERGED                               \
  ", max(b.newest)"                                                                                \
  " FROM tether." from " b WHERE b.device = work.device AND b.time >= " start                      \
  " AND b.time < " start " + interval '" length "' GROUP BY b.attribute ORDER BY b.attribute;"

/** Of attributes that are `asked` for, what is newest from a time up to `upper`. */
#define STRETCHES(from)                                                                            \
  "   WHILE upper > " from                                                                         \
  " AND asked <> '{}' LOOP"                                                                        \
  "    lower := greatest(" from                                                                    \
  ", upper - stretch);"                                                                            \
  "    FOR found IN SELECT DISTINCT ON (v.attribute) v.*"                                          \
  "      FROM tether.value_between($1, lower, upper) v WHERE v.attribute = ANY (asked)"            \
  "      ORDER BY v.attribute, v.time DESC, v.epoch DESC, v.device_time DESC, v.nth DESC LOOP"     \
  "     asked := array_remove(asked, found.attribute);"                                            \
  "     missing := array_remove(missing, found.attribute); RETURN NEXT found;"                     \
  "    END LOOP;"                                                                                  \
  "    upper := lower; stretch := 4 * stretch;"                                                    \
  "   END LOOP;"

#define NAMED(time)                                                                                \
  "coalesce(d.name, d.identifier) AS device, " time                                                \
  ", coalesce(a.name, a.identifier) AS "                                                           \
  "attribute"
#define IDENTIFIED "d.identifier AS device_identifier, a.identifier AS attribute_identifier"
/** A quotient that is next to nothing is an error in PostgreSQL. */
#define MEAN                                                                                       \
  "CASE WHEN abs(b.sum) < '5e-324'::double precision * b.count THEN 0 ELSE b.sum / b.count END"
#define OF_BUCKET                                                                                  \
  NAMED("b.time")                                                                                  \
  ", b.count, b.least, b.greatest, " MEAN " AS mean, b.last, b.last_time, " IDENTIFIED
#define VIEW(size)                                                                                 \
  "CREATE OR REPLACE VIEW telemetry_" size " AS SELECT " OF_BUCKET                                 \
  " FROM tether.device d CROSS JOIN LATERAL tether." size                                          \
  "_of(d.id, '-infinity', 'infinity') b"                                                           \
  " JOIN tether.attribute a ON a.id = b.attribute;"

const char tt_postgres_bucket_schema[] =
    // Nobody writes between the look at the samples and the first mark.
    "LOCK TABLE value, numbered_value IN SHARE MODE;"
    // A session that writes has a number, and holds a lock of that number (advisory, 7604) for as long as it lives. It marks
    // an hour once. Marks of number 0 are nobody's, who changed samples by hand, and those of -1 were given up: the buckets of such an hour are
    // made anew, but for the part that is `made`.
    "CREATE SEQUENCE marker AS integer CYCLE;"
    "CREATE TABLE marked_hour (device integer NOT NULL, hour timestamptz NOT NULL,"
    " marker integer NOT NULL, made interval NOT NULL DEFAULT '0',"
    " PRIMARY KEY (device, hour, marker));"
    // `count` and what follows is of numbers; `newest` is the time of the last value, be it a text.
    "CREATE TABLE minute_bucket (device integer NOT NULL, \"time\" timestamptz NOT NULL,"
    " attribute integer NOT NULL, count bigint NOT NULL, least double precision,"
    " greatest double precision, sum double precision, last double precision,"
    " last_time timestamptz, newest timestamptz NOT NULL, PRIMARY KEY (device, time, attribute));"
    "CREATE TABLE hour_bucket (LIKE minute_bucket INCLUDING ALL);"
    "CREATE TABLE day_bucket (LIKE minute_bucket INCLUDING ALL);"
    "INSERT INTO marked_hour (device, hour, marker)"
    " SELECT DISTINCT device, " TT_POSTGRES_BIN("1 hour", "time") ", 0 FROM any_value;"

    // Samples of a device from one time to before another, epoch by epoch, by the key of `value`.
    "CREATE FUNCTION value_between(integer, timestamptz, timestamptz)"
    " RETURNS SETOF any_value LANGUAGE sql STABLE AS $$"
    " SELECT v.* FROM tether.boot b CROSS JOIN LATERAL (SELECT * FROM tether.any_value a"
    "  WHERE a.device = b.device AND a.epoch = b.epoch"
    "  AND a.device_time >= " CLAMPED(MICROSECONDS("$2") " - b.offset_high")
    "  AND a.device_time <= " CLAMPED(MICROSECONDS("$3") " - b.offset_low")
    "  AND a.day >= " TT_POSTGRES_DAY_OF(MICROSECONDS("$2") " - b.offset_high + b.anchor")
    "  AND a.day <= " TT_POSTGRES_DAY_OF(MICROSECONDS("$3") " - b.offset_low + b.anchor")
    "  AND a.time >= $2 AND a.time < $3 OFFSET 0) v"
    " WHERE b.device = $1 $$;";

const char tt_postgres_newest_schema[] =
    // Nobody writes between the look at the samples and the first one who knows of this.
    "LOCK TABLE value, numbered_value IN SHARE MODE;"
    // No value that a session stored of an attribute of a device is of a later minute than this. Who stores one says so; it is
    // taken back by nobody, so that each session may remember what it has said.
    "CREATE TABLE newest (device integer NOT NULL, attribute integer NOT NULL,"
    " minute timestamptz NOT NULL, PRIMARY KEY (device, attribute)) WITH (fillfactor = 50);"

    // The newest value of each attribute of a device: in the minute that is said to be its newest, unless somebody changed samples
    // by hand behind that. Where it is not there, since it was removed, marked hours are looked through that are not behind that
    // minute, the latest first: stretches from the end on, each four times as long as the one before, until every attribute is
    // found. What was kept of later hours is newer.
    "CREATE OR REPLACE FUNCTION latest_of(integer) RETURNS SETOF any_value LANGUAGE plpgsql STABLE"
    " AS $$"
    " DECLARE missing integer[] := ARRAY(SELECT p.attribute FROM tether.pair p"
    "   WHERE p.device = $1);"
    "  by_hand timestamptz := (SELECT max(m.hour) + interval '1 hour' FROM tether.marked_hour m"
    "   WHERE m.device = $1 AND m.marker = 0);"
    "  found tether.any_value; asked integer[]; said timestamptz; marked timestamptz;"
    "  later timestamptz := 'infinity'; upper timestamptz; lower timestamptz; stretch interval;"
    " BEGIN"
    "  FOR said, asked IN SELECT n.minute, array_agg(n.attribute) FROM tether.newest n"
    "    WHERE n.device = $1 AND n.attribute = ANY (missing)"
    "    AND (by_hand IS NULL OR by_hand <= n.minute) GROUP BY 1 LOOP"
    "   upper := said + interval '1 minute'; stretch := interval '1 second';"
    STRETCHES("said")
    "  END LOOP;"
    "  IF missing = '{}' THEN RETURN; END IF;"
    "  FOR marked IN " MARKED " UNION ALL SELECT '-infinity' ORDER BY 1 DESC LOOP"
    "   FOR found IN SELECT v.* FROM unnest(missing) AS a (id)"
    "     CROSS JOIN LATERAL (SELECT k.newest FROM tether.hour_bucket k WHERE k.device = $1"
    "      AND k.time > marked AND k.time < later AND k.attribute = a.id"
    "      ORDER BY k.time DESC LIMIT 1) k"
    "     CROSS JOIN LATERAL (SELECT * FROM tether.value_between($1, k.newest,"
    "      k.newest + interval '1 microsecond') v WHERE v.attribute = a.id"
    "      ORDER BY v.epoch DESC, v.device_time DESC, v.nth DESC LIMIT 1) v LOOP"
    "    missing := array_remove(missing, found.attribute); RETURN NEXT found;"
    "   END LOOP;"
    "   EXIT WHEN marked = '-infinity' OR missing = '{}';"
    "   asked := ARRAY(SELECT a.id FROM unnest(missing) AS a (id) WHERE by_hand > marked"
    "    OR NOT EXISTS (SELECT FROM tether.newest n WHERE n.device = $1 AND n.attribute = a.id"
    "     AND n.minute < marked));"
    "   later := marked; upper := marked + interval '1 hour'; stretch := interval '1 second';"
    STRETCHES("marked")
    "  END LOOP;"
    " END $$;"
    "INSERT INTO newest SELECT d.id, v.attribute, " TT_POSTGRES_BIN("1 minute", "v.time")
    " FROM device d CROSS JOIN LATERAL latest_of(d.id) v;"
    "CREATE OR REPLACE VIEW telemetry_latest AS SELECT " NAMED("v.time") ", v.number, v.text,"
    " v.device_time, v.epoch, " IDENTIFIED " FROM tether.device d"
    " CROSS JOIN LATERAL tether.latest_of(d.id) v"
    " JOIN tether.attribute a ON a.id = v.attribute;";

const char tt_postgres_fold_schema[] =
    // A sum whose addends were divided by 2^20, so that none is too large for PostgreSQL.
    "CREATE OR REPLACE FUNCTION total(double precision) RETURNS double precision LANGUAGE sql IMMUTABLE AS $$"
    " SELECT CASE WHEN abs($1) <= '1.7976931348623157e308'::double precision / 1048576"
    " THEN $1 * 1048576 ELSE sign($1) * 'infinity' END $$;"

    // Buckets of a device that begin from one time to before another.
    "CREATE OR REPLACE FUNCTION second_of(integer, timestamptz, timestamptz)" RETURNS
    " SELECT v.attribute, " TT_POSTGRES_BIN("1 second", "v.time") ", " TT_POSTGRES_FOLDED
    " FROM tether.value_between($1, $2, $3 + interval '1 second') v WHERE v.number IS NOT NULL"
    " GROUP BY 1, 2 HAVING " WITHIN(TT_POSTGRES_BIN("1 second", "v.time")) " $$;"

    "CREATE OR REPLACE FUNCTION minute_of(integer, timestamptz, timestamptz)" RETURNS " "
    KEPT("minute_bucket", "1 hour")
    " UNION ALL SELECT v.attribute, " TT_POSTGRES_BIN("1 minute", "v.time") ", " TT_POSTGRES_FOLDED
    " FROM (" MARKED " AND m.hour >= " TT_POSTGRES_BIN("1 hour", "$2") " AND m.hour < $3) h"
    SAMPLES_OF_MARKED " WHERE v.number IS NOT NULL GROUP BY 1, 2"
    " HAVING " WITHIN(TT_POSTGRES_BIN("1 minute", "v.time")) " $$;"

    "CREATE OR REPLACE FUNCTION hour_of(integer, timestamptz, timestamptz)" RETURNS " "
    KEPT("hour_bucket", "1 hour")
    " UNION ALL SELECT v.attribute, h.hour, " TT_POSTGRES_FOLDED
    " FROM (" MARKED " AND m.hour >= $2 AND m.hour < $3) h"
    SAMPLES_OF_MARKED " WHERE v.number IS NOT NULL GROUP BY 1, 2 $$;"

    "CREATE OR REPLACE FUNCTION day_of(integer, timestamptz, timestamptz)" RETURNS " "
    KEPT("day_bucket", "24 hours")
    " UNION ALL SELECT b.attribute, d.day, " TT_POSTGRES_MERGED
    " FROM (SELECT DISTINCT " TT_POSTGRES_BIN("24 hours", "m.hour") " AS day"
    "  FROM tether.marked_hour m WHERE m.device = $1 AND m.hour >= $2"
    "  AND m.hour < " TT_POSTGRES_BIN("24 hours", "$3") " + interval '24 hours') d"
    " CROSS JOIN LATERAL tether.hour_of($1, d.day, d.day + interval '24 hours') b"
    " WHERE d.day >= $2 AND d.day < $3 GROUP BY 1, 2 $$;"

    // For people.
    VIEW("minute") VIEW("hour") VIEW("day")
    // Those that begin from one time to before another, of the greatest size that a step is not shorter than; else seconds.
    "CREATE OR REPLACE FUNCTION telemetry_buckets(timestamptz, timestamptz, interval)"
    " RETURNS TABLE (device text, \"time\" timestamptz, attribute text, count bigint,"
    " \"least\" double precision, \"greatest\" double precision, mean double precision,"
    " last double precision, last_time timestamptz, device_identifier text,"
    " attribute_identifier text) LANGUAGE sql STABLE AS $$"
    " SELECT " OF_BUCKET " FROM tether.device d CROSS JOIN LATERAL ("
    "SELECT * FROM tether.second_of(d.id, $1, $2) WHERE $3 < '1 minute' UNION ALL "
    "SELECT * FROM tether.minute_of(d.id, $1, $2) WHERE $3 >= '1 minute' AND $3 < '1 hour'"
    " UNION ALL "
    "SELECT * FROM tether.hour_of(d.id, $1, $2) WHERE $3 >= '1 hour' AND $3 < '1 day' UNION ALL "
    "SELECT * FROM tether.day_of(d.id, $1, $2) WHERE $3 >= '1 day') b"
    " JOIN tether.attribute a ON a.id = b.attribute $$;"

    // Gives up marks of hours that are over, of this session and of those that ended, and makes so much of the first hour whose
    // marks were given up, its minutes; with the last of them, itself and its day. One session at a time does; others do
    // nothing. A stretch may begin or end within a minute, whose bucket grows then.
    "CREATE OR REPLACE FUNCTION make_buckets(step interval, OUT given_up boolean, OUT made boolean)"
    " LANGUAGE plpgsql AS $$"
    " DECLARE work tether.marked_hour; lower timestamptz; upper timestamptz; today timestamptz;"
    " BEGIN"
    "  given_up := false; made := false;"
    "  IF NOT pg_try_advisory_xact_lock(7603) THEN RETURN; END IF;"
    "  WITH ended AS MATERIALIZED (SELECT e.marker FROM"
    "    (SELECT DISTINCT m.marker FROM tether.marked_hour m WHERE m.marker > 0 OFFSET 0) e"
    "    WHERE pg_try_advisory_xact_lock(7604, e.marker)),"
    "   given AS (DELETE FROM tether.marked_hour m USING ended e WHERE m.marker = e.marker"
    "    AND m.hour < now() - interval '61 minutes' RETURNING m.device, m.hour)"
    "  INSERT INTO tether.marked_hour SELECT DISTINCT device, hour, -1 FROM given"
    "   ON CONFLICT (device, hour, marker) DO UPDATE SET made = '0';"
    "  given_up := FOUND;"
    "  SELECT * INTO work FROM tether.marked_hour m WHERE m.marker <= 0"
    "   AND m.hour < now() - interval '61 minutes'"
    "   ORDER BY m.device, m.hour LIMIT 1 FOR UPDATE SKIP LOCKED;"
    "  IF NOT FOUND THEN RETURN; END IF;"
    "  made := true;"
    "  lower := work.hour + work.made;"
    "  upper := least(lower + step, work.hour + interval '1 hour');"
    "  DELETE FROM tether.minute_bucket b"
    "   WHERE b.device = work.device AND b.time >= lower AND b.time < upper;"
    "  INSERT INTO tether.minute_bucket AS b (device, time, attribute, " NUMBERS ", newest)"
    "   SELECT work.device, " TT_POSTGRES_BIN("1 minute", "v.time") ", v.attribute, "
    TT_POSTGRES_FOLDED ", max(v.time) FROM tether.value_between(work.device, lower, upper) v"
    "   GROUP BY 2, 3 ORDER BY 2, 3"
    "   ON CONFLICT (device, time, attribute) DO UPDATE SET count = b.count + excluded.count,"
    "    least = least(b.least, excluded.least), greatest = greatest(b.greatest, excluded.greatest),"
    "    sum = (SELECT " TT_POSTGRES_SUM("s.sum") " FROM (VALUES (b.sum), (excluded.sum)) s (sum)),"
    "    last = coalesce(excluded.last, b.last), newest = excluded.newest,"
    "    last_time = coalesce(excluded.last_time, b.last_time);"
    "  IF upper < work.hour + interval '1 hour' THEN"
    "   UPDATE tether.marked_hour m SET made = work.made + step"
    "    WHERE m.device = work.device AND m.hour = work.hour AND m.marker = work.marker;"
    "   RETURN;"
    "  END IF;"
    "  today := " TT_POSTGRES_BIN("24 hours", "work.hour") ";"
    MERGE("hour_bucket", "minute_bucket", "work.hour", "1 hour")
    MERGE("day_bucket", "hour_bucket", "today", "24 hours")
    "  INSERT INTO tether.newest AS n SELECT work.device, b.attribute, "
    TT_POSTGRES_BIN("1 minute", "max(b.newest)") " FROM tether.minute_bucket b"
    "   WHERE work.marker = 0 AND b.device = work.device AND b.time >= work.hour"
    "   AND b.time < work.hour + interval '1 hour' GROUP BY b.attribute ORDER BY b.attribute"
    "   ON CONFLICT (device, attribute) DO UPDATE SET minute = excluded.minute"
    "   WHERE n.minute < excluded.minute;"
    "  DELETE FROM tether.marked_hour m"
    "   WHERE m.device = work.device AND m.hour = work.hour AND m.marker = work.marker;"
    " END $$;";
