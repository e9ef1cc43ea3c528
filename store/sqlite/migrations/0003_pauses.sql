-- When the schedules of a workflow started nothing; one may be under way.
CREATE TABLE pauses (
  workflow TEXT NOT NULL,
  since    INTEGER NOT NULL,
  by       TEXT NOT NULL,
  until    INTEGER,
  PRIMARY KEY (workflow, since)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX pauses_under_way ON pauses (workflow) WHERE until IS NULL;
