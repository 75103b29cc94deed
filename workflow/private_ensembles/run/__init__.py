"""A job and its settings: config.yaml as models, names of files, fingerprints, announcements.

`check` checks config.yaml, `configuration` holds the model of all of it, and `schema` makes the
JSON schema. This package knows no page. It may import `papers` and `release`.
"""
