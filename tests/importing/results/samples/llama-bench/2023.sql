CREATE TABLE IF NOT EXISTS test (
  build_commit TEXT,
  build_number INTEGER,
  cuda INTEGER,
  model_filename TEXT,
  n_prompt INTEGER,
  n_gen INTEGER,
  avg_ns INTEGER,
  stddev_ns INTEGER,
  avg_ts REAL,
  stddev_ts REAL
);

INSERT INTO test (build_commit, build_number, cuda, model_filename, n_prompt, n_gen, avg_ns, stddev_ns, avg_ts, stddev_ts) VALUES ('0f0f0f0', '1234', '0', 'old.gguf', '0', '128', '12800000000', '12800000', '10.000010', '0.010000');
