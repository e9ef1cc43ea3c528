-- Who changed what. A number is never used again.
CREATE TABLE changes (
  n        INTEGER PRIMARY KEY AUTOINCREMENT,
  at       INTEGER NOT NULL,
  by       TEXT NOT NULL,
  "from"   TEXT NOT NULL,
  action   TEXT NOT NULL,
  workflow TEXT NOT NULL,
  run_id   TEXT NOT NULL,
  answer   TEXT NOT NULL
) STRICT;

CREATE INDEX changes_by_workflow ON changes (workflow, n) WHERE workflow <> '';
CREATE INDEX changes_by_run ON changes (run_id, n) WHERE run_id <> '';
CREATE INDEX changes_by_time ON changes (at);
