CREATE TABLE IF NOT EXISTS test_backend_ops (
  test_time TEXT,
  op_name TEXT
);

INSERT INTO test_backend_ops (test_time, build_commit, backend_name, op_name, op_params, test_mode, supported, passed, error_message, time_us, flops, bandwidth_gb_s, memory_kb, n_runs, device_description, backend_reg_name) VALUES ('2026-01-01T00:00:00Z', 'b8595b16e', 'Metal', 'ABS', 'type=f32,ne=[1,2]', 'test', '1', '1', '', '0.000000', '0.000000', '0.000000', '0', '0', '', '');
INSERT INTO test_backend_ops (test_time, build_commit, backend_name, op_name, op_params, test_mode, supported, passed, error_message, time_us, flops, bandwidth_gb_s, memory_kb, n_runs, device_description, backend_reg_name) VALUES ('2026-01-01T00:00:00Z', 'b8595b16e', 'Metal', 'ABS', 'type=f16,ne=[1,2]', 'test', '1', '0', 'test failed', '0.000000', '0.000000', '0.000000', '0', '0', 'M2', '');
INSERT INTO test_backend_ops (test_time, build_commit, backend_name, op_name, op_params, test_mode, supported, passed, error_message, time_us, flops, bandwidth_gb_s, memory_kb, n_runs, device_description, backend_reg_name) VALUES ('2026-01-01T00:00:00Z', 'b8595b16e', 'Metal', 'MUL_MAT', 'type_a=f32,type_b=f32,m=1,n=1,k=1', 'perf', '1', '1', '', '37.490000', '1.000000', '0.000000', '32', '8192', 'M2', '');
