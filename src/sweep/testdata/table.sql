-- table.sql: a sweep's table of 100,000 runs, as results.h describes it: 20 headings, 25 gains, 10 payloads, 20 repeats.
-- Noise follows from the run's number, so that the table is the same everywhere.
PRAGMA journal_mode = WAL;
CREATE TABLE sweep (key TEXT PRIMARY KEY, value);
INSERT INTO sweep VALUES ('plan', '/plans/gains.yaml'), ('scene', 'sharp'), ('runs', '100000'), ('repeat', '20');
CREATE TABLE run_column (name TEXT, role TEXT, unit TEXT);
INSERT INTO run_column VALUES ('id', 'run', ''), ('run', 'run', ''), ('seed', 'run', ''), ('status', 'run', ''), ('error', 'run', ''),
  ('hash', 'run', ''), ('simulated_time', 'run', 's'), ('wall_time', 'run', 's'), ('host', 'run', ''), ('heading', 'axis', 'rad'),
  ('gain', 'axis', ''), ('payload', 'axis', 'kg'), ('final_y', 'metric', 'm'), ('top_speed', 'metric', 'm/s'),
  ('settling_time', 'metric', 's'), ('success', 'metric', '');
CREATE TABLE run (id TEXT PRIMARY KEY, run INTEGER, seed INTEGER, status TEXT, error TEXT, hash TEXT, simulated_time REAL, wall_time REAL,
  host TEXT, heading REAL, gain REAL, payload REAL, final_y REAL, top_speed REAL, settling_time REAL, success INTEGER);
WITH RECURSIVE
  number(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n < 99999),
  point AS (SELECT n, n % 20 AS k, (n / 20) % 10 * 0.5 AS payload, 0.1 + (n / 200) % 25 * 0.075 AS gain, (n / 5000) * 0.0826734 AS heading,
    ((n * 7919) % 100003) / 100003.0 - 0.5 AS a, ((n * 104729 + 17) % 99991) / 99991.0 - 0.5 AS b FROM number)
INSERT INTO run SELECT printf('%032x', n * 2654435761), n, 1000 + k, CASE n % 997 WHEN 0 THEN 'timeout' WHEN 1 THEN 'diverged' ELSE 'ok' END,
  CASE n % 997 WHEN 0 THEN 'took longer than 30 s' WHEN 1 THEN 'the simulation diverged at step 1033' ELSE '' END,
  printf('%016x', n * 40503), 2.0, 0.004 + 0.002 * (a + 0.5), 'node' || (n % 4), heading, gain, payload,
  CASE WHEN n % 997 < 2 THEN NULL ELSE heading * (1.4 - 0.5 * heading) * (1 - 0.06 * payload) + 0.1 * a END,
  CASE WHEN n % 997 < 2 THEN NULL ELSE 2.4 * gain / (0.5 + gain) * (1 - 0.08 * payload) + 0.12 * b END,
  CASE WHEN n % 997 < 2 OR gain + 0.2 * a > 1.7 THEN NULL ELSE 0.3 + 0.35 / gain + 0.9 * (gain - 0.8) * (gain - 0.8) + 0.05 * payload + 0.2 * b END,
  CASE WHEN n % 997 < 2 THEN 0 ELSE gain + 0.2 * a <= 1.7 END FROM point;
