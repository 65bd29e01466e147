// The NATS packages, which are loaded when a run begins: they are optional peers, and strategies and accounting work without them.

import { fail } from "./errors.js";

/** Imports packages; throws InvalidArgument that says how to install them if they are missing. */
export async function installed<T>(where: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const names =
      "@nats-io/nats-core @nats-io/jetstream @nats-io/kv @nats-io/obj @nats-io/transport-node";
    return fail(
      "InvalidArgument",
      where,
      `a package of NATS cannot be imported: ${error}. npm install ${names}`,
    );
  }
}

/** The packages that clients and coordinators need. */
export async function loadClientPackages(where: string) {
  const [core, jetstream] = await installed(where, () =>
    Promise.all([import("@nats-io/nats-core"), import("@nats-io/jetstream")]),
  );
  return { core, jetstream };
}

/** The package for key-value buckets. */
export function loadKeyValue(where: string) {
  return installed(where, () => import("@nats-io/kv"));
}

type NodeTransport = Pick<typeof import("@nats-io/transport-node"), "connect">;

/** The package that connects over TCP, which only exists for Node; bundlers of pages must not look for it. */
export function loadNodeTransport(where: string): Promise<NodeTransport> {
  const name = "@nats-io/transport-node";
  return installed(where, () => import(/* @vite-ignore */ /* webpackIgnore: true */ name));
}
