-- A database as schema 1 left it. Never to be changed.
CREATE TABLE device (id INTEGER PRIMARY KEY, identifier TEXT NOT NULL UNIQUE, name TEXT UNIQUE);
CREATE TABLE attribute (id INTEGER PRIMARY KEY, identifier TEXT NOT NULL UNIQUE, name TEXT UNIQUE);
CREATE TABLE handling (pattern TEXT PRIMARY KEY, type INTEGER NOT NULL, mode INTEGER NOT NULL, unit TEXT,
  scale REAL NOT NULL, offset REAL NOT NULL, min_interval REAL NOT NULL, retention REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE boot (device INTEGER NOT NULL, epoch INTEGER NOT NULL, anchor INTEGER NOT NULL,
  offset_low INTEGER NOT NULL, offset_high INTEGER NOT NULL, PRIMARY KEY (device, epoch)) WITHOUT ROWID;
CREATE TABLE sample (id INTEGER PRIMARY KEY, device INTEGER NOT NULL, epoch INTEGER NOT NULL,
  device_time INTEGER NOT NULL, time INTEGER NOT NULL, UNIQUE (device, epoch, device_time));
CREATE TABLE value (sample INTEGER NOT NULL, attribute INTEGER NOT NULL, value NOT NULL,
  PRIMARY KEY (sample, attribute)) WITHOUT ROWID;
INSERT INTO device VALUES (1, 'OLD', NULL);
INSERT INTO attribute VALUES (1, 'Output.drive.velocity', NULL);
INSERT INTO boot VALUES (1, 0, 0, -50, 50);
INSERT INTO sample VALUES (1, 1, 0, 5, 5);
INSERT INTO value VALUES (1, 1, 42.0);
PRAGMA user_version = 1;
PRAGMA application_id = 0x54544c4d;
