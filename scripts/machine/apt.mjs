// Debian packages that a build needs: installs the missing ones when run as root, and otherwise prints the command to
// install them.

import { existsSync } from "node:fs";
import { expected, quiet, read, step } from "../process.mjs";

// Each package, with a file whose existence shows that it is installed.
const kPackages = {
  native: {
    "g++": "/usr/bin/g++",
    cmake: "/usr/bin/cmake",
    "ninja-build": "/usr/bin/ninja",
    ccache: "/usr/bin/ccache",
    "libeigen3-dev": "/usr/include/eigen3/Eigen/Core",
    "libgtest-dev": "/usr/src/googletest/CMakeLists.txt",
  },
  native32: {
    "g++-multilib": "/usr/include/x86_64-linux-gnu/c++/12/32",
  },
  wasm: {
    "clang-19": "/usr/lib/llvm-19/bin/clang",
    "lld-19": "/usr/lib/llvm-19/bin/wasm-ld",
    "llvm-19": "/usr/lib/llvm-19/bin/llvm-ar",
    patchelf: "/usr/bin/patchelf",
    python3: "/usr/bin/python3",
    "debian-archive-keyring": "/usr/share/keyrings/debian-archive-keyring.gpg",
  },
  check: {
    "clang-19": "/usr/bin/clang++-19",
    "clang-format-19": "/usr/bin/clang-format-19",
    "clang-tidy-19": "/usr/bin/clang-tidy-19",
  },
  torch: {
    "python3-torch": "/usr/lib/python3/dist-packages/torch/__init__.py",
    "python3-protobuf": "/usr/lib/python3/dist-packages/google/protobuf/__init__.py",
  },
  browser: {
    chromium: "/usr/bin/chromium",
    libvulkan1: "/usr/lib/x86_64-linux-gnu/libvulkan.so.1",
  },
  firefox: {
    "firefox-esr": "/usr/bin/firefox-esr",
  },
  onnx: {
    "libonnx-testdata": "/usr/share/libonnx-testdata/data/node",
    "python3-onnx": "/usr/lib/python3/dist-packages/onnx/checker.py",
  },
  pytorch: {
    "python3-numpy": "/usr/lib/python3/dist-packages/numpy/__init__.py",
    "python3-packaging": "/usr/lib/python3/dist-packages/packaging/__init__.py",
    "xz-utils": "/usr/bin/xz",
  },
  federated: {
    "nats-server": "/usr/sbin/nats-server",
  },
  webkit: {
    "webkit2gtk-driver": "/usr/bin/WebKitWebDriver",
    xvfb: "/usr/bin/Xvfb",
  },
};

/** Installs the named groups of kPackages. On systems other than Debian, CMake reports what is missing. */
export async function ensurePackages(...groups) {
  if (!isDebian()) return;
  const wanted = groups.flatMap((group) => Object.entries(kPackages[group]));
  const missing = wanted.filter(([, file]) => !existsSync(file)).map(([name]) => name);
  if (missing.length === 0) return;
  if (process.getuid() !== 0) {
    throw expected(`Packages are missing; run as root: apt-get install ${missing.join(" ")}`);
  }
  await updatePackageLists();
  await step(`apt-get install ${missing.join(" ")}`, () =>
    apt("install", "--yes", "--no-install-recommends", ...missing),
  );
}

export async function updatePackageLists() {
  await step("apt-get update", () => apt("update"));
}

/** Returns the mirror of Debian's main archive in this machine's apt sources, or undefined. */
export async function debianMirror() {
  // apt lists its sources only if it has their package lists, which a trimmed image may lack.
  if (!readMirror()) await updatePackageLists();
  return readMirror();
}

function readMirror() {
  const format = "$(REPO_URI) $(RELEASE) $(COMPONENT)";
  const targets = read("apt-get", ["indextargets", "--format", format, "Created-By: Packages"]);
  const found = (targets ?? "").split("\n").map((line) => line.split(" "));
  const isMain = ([uri, release, component]) =>
    /\/debian\/?$/.test(uri) && /^\w+$/.test(release) && component === "main";
  return found.find(isMain)?.[0];
}

export function isDebian() {
  return existsSync("/etc/debian_version") && read("apt-get", ["--version"]) !== null;
}

function apt(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return quiet("apt-get", ["-qq", "-o", "DPkg::Lock::Timeout=300", ...args], { env });
}
