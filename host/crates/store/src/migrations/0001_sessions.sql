-- Sessions and all that a run leaves behind. Times are milliseconds since 1970-01-01 UTC.

-- One row changes with every append, so it is kept short: what is long lives elsewhere.
CREATE TABLE sessions (
    key                INTEGER PRIMARY KEY,
    id                 TEXT    NOT NULL UNIQUE,
    title              TEXT,
    source             TEXT    NOT NULL,
    model              TEXT    NOT NULL,
    parent             TEXT    REFERENCES sessions (id) ON DELETE SET NULL,
    root               TEXT    NOT NULL,              -- first of the line; itself if it has no parent
    created_ms         INTEGER NOT NULL,
    updated_ms         INTEGER NOT NULL,
    next_position      INTEGER NOT NULL DEFAULT 0,    -- where the next message goes
    message_count      INTEGER NOT NULL DEFAULT 0,    -- messages that are not archived
    turns              INTEGER NOT NULL DEFAULT 0,
    api_calls          INTEGER NOT NULL DEFAULT 0,
    input_tokens       INTEGER NOT NULL DEFAULT 0,    -- these are sums over the table `turns`
    output_tokens      INTEGER NOT NULL DEFAULT 0,
    cached_tokens      INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    reasoning_tokens   INTEGER NOT NULL DEFAULT 0,
    usage_estimated    INTEGER NOT NULL DEFAULT 0,
    cost_usd           REAL,                          -- NULL while no turn's cost is known
    cost_estimated     INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;

CREATE TABLE system_prompts (
    session INTEGER PRIMARY KEY REFERENCES sessions (key) ON DELETE CASCADE,
    text    TEXT NOT NULL
) STRICT;

-- `position` orders the messages of a session. Those that are not archived have distinct positions.
-- An archived message keeps its own, and the messages put in its place take the same, so that the
-- order is still right after it is restored.
CREATE TABLE messages (
    key          INTEGER PRIMARY KEY,
    session      INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    position     INTEGER NOT NULL,
    archived     INTEGER NOT NULL DEFAULT 0,
    id           TEXT    NOT NULL,
    role         TEXT    NOT NULL,
    tool_call_id TEXT,
    created_ms   INTEGER NOT NULL,
    body         TEXT    NOT NULL                     -- the whole message as JSON
) STRICT;
CREATE INDEX messages_in_order ON messages (session, archived, position);

CREATE TABLE turns (
    session            INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    turn               INTEGER NOT NULL,
    ended_ms           INTEGER NOT NULL,
    end_kind           TEXT    NOT NULL,
    end_detail         TEXT    NOT NULL,
    api_calls          INTEGER NOT NULL,
    input_tokens       INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    cached_tokens      INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    reasoning_tokens   INTEGER NOT NULL,
    usage_estimated    INTEGER NOT NULL,
    cost_usd           REAL,
    cost_estimated     INTEGER NOT NULL,
    PRIMARY KEY (session, turn)
) STRICT, WITHOUT ROWID;

-- Who runs a turn in a session now, so that two processes do not.
CREATE TABLE turn_lease (
    session    INTEGER PRIMARY KEY REFERENCES sessions (key) ON DELETE CASCADE,
    holder     TEXT    NOT NULL,
    expires_ms INTEGER NOT NULL
) STRICT;

-- Receipts and spills name their session without a foreign key: a plugin can be called by hand,
-- outside any session.
CREATE TABLE receipts (
    key         INTEGER PRIMARY KEY,
    session_id  TEXT    NOT NULL,
    call_id     TEXT    NOT NULL,
    tool        TEXT    NOT NULL,
    source      TEXT    NOT NULL,
    outcome     TEXT    NOT NULL,
    recorded_ms INTEGER NOT NULL,
    body        TEXT    NOT NULL                      -- the whole receipt as JSON
) STRICT;
CREATE INDEX receipts_by_session ON receipts (session_id);

-- One row for each part of a result that was too long for the model.
CREATE TABLE spills (
    key        INTEGER PRIMARY KEY,
    session_id TEXT    NOT NULL,
    call_id    TEXT    NOT NULL,
    part       INTEGER NOT NULL,
    kind       TEXT    NOT NULL CHECK (kind IN ('text', 'bytes')),
    mime       TEXT    NOT NULL,
    attributes TEXT    NOT NULL,
    created_ms INTEGER NOT NULL,
    body       BLOB    NOT NULL,                      -- UTF-8 where `kind` is 'text'
    UNIQUE (session_id, call_id, part)
) STRICT;

-- A namespace's row outlives its keys, so that no revision is ever given twice.
CREATE TABLE plugin_namespaces (
    namespace TEXT    PRIMARY KEY,
    revision  INTEGER NOT NULL DEFAULT 0,             -- the last one given
    bytes     INTEGER NOT NULL DEFAULT 0,             -- these two are sums over `plugin_state`
    keys      INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE plugin_state (
    row        INTEGER PRIMARY KEY,
    namespace  TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    value      BLOB    NOT NULL,
    bytes      INTEGER NOT NULL,                      -- of key and value together
    revision   INTEGER NOT NULL,
    expires_ms INTEGER,
    UNIQUE (namespace, key)
) STRICT;
CREATE INDEX plugin_state_expiry ON plugin_state (namespace, expires_ms)
    WHERE expires_ms IS NOT NULL;
