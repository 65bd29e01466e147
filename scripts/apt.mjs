// Debian packages that a build needs: installs the missing ones as root, or says what to do.

import { existsSync } from "node:fs";
import { expected, quiet, read, step } from "./process.mjs";

// Each package and the file by which it is known to be there.
const kPackages = {
  native: {
    "g++": "/usr/bin/g++",
    cmake: "/usr/bin/cmake",
    "ninja-build": "/usr/bin/ninja",
    ccache: "/usr/bin/ccache",
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
  browser: {
    chromium: "/usr/bin/chromium",
    libvulkan1: "/usr/lib/x86_64-linux-gnu/libvulkan.so.1",
  },
  firefox: {
    "firefox-esr": "/usr/bin/firefox-esr",
  },
  webkit: {
    "webkit2gtk-driver": "/usr/bin/WebKitWebDriver",
    xvfb: "/usr/bin/Xvfb",
  },
};

/** Installs the named groups of kPackages; elsewhere than on Debian CMake says what it misses. */
export async function ensurePackages(...groups) {
  if (!isDebian()) return;
  const wanted = groups.flatMap((group) => Object.entries(kPackages[group]));
  const missing = wanted.filter(([, file]) => !existsSync(file)).map(([name]) => name);
  if (missing.length === 0) return;
  if (process.getuid() !== 0) {
    throw expected(`Missing packages; as root: apt-get install ${missing.join(" ")}`);
  }
  await updatePackageLists();
  await step(`apt-get install ${missing.join(" ")}`, () =>
    apt("install", "--yes", "--no-install-recommends", ...missing),
  );
}

export async function updatePackageLists() {
  await step("apt-get update", () => apt("update"));
}

export function isDebian() {
  return existsSync("/etc/debian_version") && read("apt-get", ["--version"]) !== null;
}

function apt(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return quiet("apt-get", ["-qq", "-o", "DPkg::Lock::Timeout=300", ...args], { env });
}
