// SPDX-License-Identifier: Apache-2.0

// Uses the tools of a running service, or of one that it starts, with the
// protocol's own client for JavaScript. Each case prints a line "ok NAME" or
// "failed NAME: WHY". What there is to use is in the JSON of its argument.

import assert from "node:assert/strict";
import fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const given = JSON.parse(process.argv[2]);
const timeout = 60_000;

function transport(env = {}) {
  if (given.url) {
    const headers = { Authorization: `Bearer ${given.token}` };
    return new StreamableHTTPClientTransport(new URL(given.url), { requestInit: { headers } });
  }
  const [command, ...args] = given.command;
  return new StdioClientTransport({ command, args, env: { ...process.env, ...env }, stderr: "inherit" });
}

async function connect(env) {
  const client = new Client({ name: "foreign", version: "1" });
  await client.connect(transport(env), { timeout });
  // From here on the client checks each structured result against the schema.
  client.tools = (await client.listTools(undefined, { timeout })).tools;
  return client;
}

async function run(client, args, options = {}) {
  const r = await client.callTool({ name: "execute_shell_command", arguments: { project: "p", ...args } }, undefined, { timeout, ...options });
  const text = r.content.map((c) => (assert.equal(c.type, "text"), c.text)).join("\n");
  return { ...r.structuredContent, isError: r.isError === true, text, raw: JSON.stringify(r) };
}

async function until(what, done) {
  for (let end = Date.now() + timeout; !done(); await sleep(5)) {
    assert.ok(Date.now() < end, `${what}: not in time`);
  }
}

const file = (name) => `${given.project}/${name}`;

const cases = {
  async initialize(c) {
    assert.equal(c.getServerVersion().name, "ambit");
    assert.ok(c.getServerCapabilities().tools);
    assert.match(c.getInstructions(), /SANDBOX_UNAVAILABLE/);
  },
  async tools(c) {
    assert.deepEqual(c.tools.map((t) => t.name).sort(), ["execute_shell_command", "sandbox_status"]);
    for (const t of c.tools) {
      assert.equal(t.inputSchema.additionalProperties, false);
      assert.equal(t.outputSchema.type, "object");
    }
    const [execute] = c.tools.filter((t) => t.name === "execute_shell_command");
    assert.deepEqual(execute.inputSchema.required, ["project"]);
    assert.equal(execute.annotations.destructiveHint, true);
  },
  async status(c) {
    const r = await c.callTool({ name: "sandbox_status", arguments: {} }, undefined, { timeout });
    assert.equal(r.structuredContent.available, true);
    assert.equal(r.structuredContent.backend, "landlock");
  },
  async echo(c) {
    const r = await run(c, { command: "echo test" });
    assert.deepEqual([r.stdout, r.stderr, r.exit_code, r.isError], ["test\n", "", 0, false]);
    assert.match(r.text, /exit code 0\nstdout:\ntest\n/);
  },
  async "exit code"(c) {
    const r = await run(c, { command: "echo why >&2; exit 7" });
    assert.deepEqual([r.stdout, r.stderr, r.exit_code, r.isError], ["", "why\n", 7, false]);
    assert.match(r.text, /exit code 7[^]*stderr:\nwhy\n/);
  },
  async "blocked path"(c) {
    fs.writeFileSync(file("shut"), "text\n");
    const folder_guard = { extends: "workspace", blocked_paths: ["${WORK_DIR}/shut"] };
    const r = await run(c, { command: "cat shut", folder_guard });
    assert.deepEqual([r.stdout, r.isError], ["", false]);
    assert.match(r.stderr, /Permission denied/);
    assert.equal((await run(c, { command: "cat shut" })).stdout, "text\n");
  },
  async "policy that widens"(c) {
    const r = await run(c, { command: "touch ran", folder_guard: { extends: "workspace", write_paths: ["/etc"] } });
    assert.deepEqual([r.isError, r.code, r.exit_code], [true, "POLICY_INVALID", 125]);
    assert.match(r.text, /^POLICY_INVALID: .*\/etc/);
    assert.ok(!fs.existsSync(file("ran")));
  },
  async "unknown argument"(c) {
    const r = await run(c, { command: "touch ran", cwd: "/" });
    assert.deepEqual([r.isError, r.code], [true, "REQUEST_INVALID"]);
    assert.match(r.text, /unknown field "cwd"/);
    assert.ok(!fs.existsSync(file("ran")));
  },
  async secret(c) {
    const r = await run(c, { command: 'echo "${#KEY} $KEY"; "$KEY"', secrets: ["KEY"] });
    assert.equal(r.stdout, `${given.secret.length} [secret KEY]\n`);
    assert.ok(!r.raw.includes(given.secret));
  },
  async "too much output"(c) {
    const r = await run(c, { command: "head -c 3000000 /dev/zero | tr '\\0' x" });
    assert.deepEqual([r.stdout.length, r.stdout_truncated, r.stdout_bytes], [1 << 20, true, 3000000]);
  },
  async "bad UTF-8"(c) {
    const r = await run(c, { command: "printf 'a\\377b'" });
    assert.equal(r.stdout_encoding, "base64");
    assert.deepEqual([...Buffer.from(r.stdout, "base64")], [0x61, 0xff, 0x62]);
    assert.match(r.text, /a\uFFFDb/);
  },
  async progress(c) {
    const seen = [];
    const call = run(c, { command: "echo printed; until [ -e go ]; do sleep 0.02; done" }, { onprogress: (p) => seen.push(p) });
    await until("progress", () => seen.length >= 2);
    fs.writeFileSync(file("go"), "");
    assert.equal((await call).stdout, "printed\n");
    assert.ok(seen[1].progress > seen[0].progress);
    assert.match(seen[0].message, /8 bytes of output/);
  },
  async cancel(c) {
    // The tree holds the pipe, a process with a session of its own and without
    // a parent too.
    const abort = new AbortController();
    const call = run(c, { command: "exec 3>pipe; (setsid sleep 1000 &) ; touch begun; sleep 1000" }, { signal: abort.signal });
    const refused = assert.rejects(call);
    let ended = false;
    fs.createReadStream(file("pipe")).on("end", () => (ended = true)).resume();
    await until("the tree", () => fs.existsSync(file("begun")));
    assert.equal(ended, false);
    abort.abort();
    await refused;
    await until("the tree's end", () => ended);
  },
  async "two at once"(c) {
    const other = await connect();
    try {
      const calls = [
        run(c, { command: "touch a; until [ -e b ]; do sleep 0.02; done; echo met" }),
        run(other, { command: "until [ -e a ]; do sleep 0.02; done; touch b; echo met" }),
      ];
      assert.deepEqual((await Promise.all(calls)).map((r) => r.stdout), ["met\n", "met\n"]);
    } finally {
      await other.close();
    }
  },
  async "no sandbox"() {
    if (given.url) {
      return; // the service's environment is not this one's to choose
    }
    const c = await connect({ TMPDIR: file("missing") });
    try {
      const r = await run(c, { command: "touch ran" });
      assert.deepEqual([r.isError, r.code, r.backend, r.exit_code], [true, "SANDBOX_UNAVAILABLE", "landlock", 125]);
      assert.match(r.text, /^SANDBOX_UNAVAILABLE: [^]*was not run/);
      assert.ok(!fs.existsSync(file("ran")));
    } finally {
      await c.close();
    }
  },
};

const client = await connect();
for (const [name, test] of Object.entries(cases)) {
  try {
    await test(client);
    console.log(`ok ${name}`);
  } catch (e) {
    console.log(`failed ${name}: ${e.stack}`);
    process.exitCode = 1;
  }
}
await client.close();
