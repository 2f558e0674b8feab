-- Finding what was said. The words of a message stand here once more as an index, without their
-- text; `rowid` is the message's key. Which column they stand in says who spoke. What a word is
-- decides the program: words come in separated by spaces, with no sign of ASCII but the dash.
CREATE VIRTUAL TABLE message_words USING fts5 (
    user, assistant, tool,
    facets,                                           -- session, source and line of the message
    content = '', contentless_delete = 1,
    tokenize = "ascii tokenchars '-'"
);

-- Messages are indexed some time after they are written, in the order of their keys: this far.
CREATE TABLE search_progress (
    one   INTEGER PRIMARY KEY CHECK (one = 1),
    up_to INTEGER NOT NULL
) STRICT;
INSERT INTO search_progress (one, up_to) VALUES (1, 0);

CREATE INDEX sessions_by_root ON sessions (root);
