"""A job and its settings: config.yaml as models, names of files, fingerprints, announcements.

`check` reads config.yaml, `configuration` is the whole, `schema` the JSON schema. Knows no page.
May import `papers` and `release`.
"""
