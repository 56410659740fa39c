-- A database as schema 2 left it. Never to be changed.
CREATE TABLE attribute (id INTEGER PRIMARY KEY, identifier TEXT NOT NULL UNIQUE, name TEXT UNIQUE);
INSERT INTO "attribute" VALUES(1,'S.d.n','Number');
INSERT INTO "attribute" VALUES(2,'S.d.t',NULL);
CREATE TABLE boot (device INTEGER NOT NULL, epoch INTEGER NOT NULL, anchor INTEGER NOT NULL, offset_low INTEGER NOT NULL, offset_high INTEGER NOT NULL, PRIMARY KEY (device, epoch)) WITHOUT ROWID;
INSERT INTO "boot" VALUES(1,0,1795314211478845,1795314211350000,1795314211500000);
INSERT INTO "boot" VALUES(1,1,1795314212434157,1795314212400000,1795314212450000);
CREATE TABLE device (id INTEGER PRIMARY KEY, identifier TEXT NOT NULL UNIQUE, name TEXT UNIQUE);
INSERT INTO "device" VALUES(1,'OLD',NULL);
CREATE TABLE handling (pattern TEXT PRIMARY KEY, type INTEGER NOT NULL, mode INTEGER NOT NULL, unit TEXT,
  scale REAL NOT NULL, offset REAL NOT NULL, min_interval REAL NOT NULL, retention REAL NOT NULL) WITHOUT ROWID;
INSERT INTO "handling" VALUES('S.x.*',0,0,'V',2.0,0.0,0.0,0.0);
CREATE TABLE sample (id INTEGER PRIMARY KEY, device INTEGER NOT NULL, epoch INTEGER NOT NULL, device_time INTEGER NOT NULL, time INTEGER NOT NULL, UNIQUE (device, epoch, device_time));
INSERT INTO "sample" VALUES(1,1,0,1000000,1795314212478845);
INSERT INTO "sample" VALUES(2,1,0,1100000,1795314212483313);
INSERT INTO "sample" VALUES(3,1,1,50000,1795314212484157);
CREATE TABLE value (sample INTEGER NOT NULL, attribute INTEGER NOT NULL, value NOT NULL, PRIMARY KEY (sample, attribute)) WITHOUT ROWID;
INSERT INTO "value" VALUES(1,1,1.0);
INSERT INTO "value" VALUES(1,2,'one');
INSERT INTO "value" VALUES(2,1,2.0);
INSERT INTO "value" VALUES(2,2,'two');
INSERT INTO "value" VALUES(3,1,3.0);
CREATE VIEW telemetry AS SELECT coalesce(device.name, device.identifier) AS device,  strftime('%Y-%m-%dT%H:%M:', sample.time / 1000000, 'unixepoch') ||  printf('%02d.%06dZ', sample.time / 1000000 % 60, sample.time % 1000000) AS time,  coalesce(attribute.name, attribute.identifier) AS attribute, value.value AS value,  sample.time AS time_us, sample.device_time AS device_time_us, sample.epoch AS epoch,  device.identifier AS device_identifier, attribute.identifier AS attribute_identifier FROM sample JOIN value ON value.sample = sample.id JOIN device ON device.id = sample.device JOIN attribute ON attribute.id = value.attribute;
PRAGMA user_version = 2;
PRAGMA application_id = 0x54544c4d;
