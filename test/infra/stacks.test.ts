import { tmpdir } from 'node:os';
import { App, Stack } from 'aws-cdk-lib';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readSettings } from '../../cdk/config.ts';
import { functionSpecs } from '../../cdk/deploy.ts';
import { tableAccess } from '../../lib/adapters/stores/dynamodb/table-use.ts';
import { TABLES } from '../../lib/adapters/stores/dynamodb/tables.ts';
import { routes as api } from '../../lib/api/routes.ts';
import { STATES } from '../../lib/core/machine/loop.ts';
import { ENV } from '../../lib/manifest.ts';
import { ofType, readable, synthesize } from '../support/stacks.ts';

const functionSchema = z.object({
  FunctionName: z.string(),
  Runtime: z.string(),
  Architectures: z.array(z.string()),
  MemorySize: z.number(),
  Timeout: z.number(),
  Environment: z.object({ Variables: z.record(z.string(), z.unknown()) }),
});
const { agent, state } = synthesize({ target: 'aws' });
const emulator = synthesize({ target: 'emulator', workspace: '/srv/workspaces' });
const functions = ofType(agent, 'AWS::Lambda::Function').map(([, { Properties }]) => functionSchema.parse(Properties));

describe('cdk-nag', () => {
  it.each(['aws', 'emulator'])('finds nothing unexplained for target %s', (target) => {
    expect(new AwsSolutionsChecks().validateScope(synthesize({ target }).app).violations).toEqual([]);
  });

  it('would find something', () => {
    const app = new App();
    new Bucket(new Stack(app, 'Careless'), 'Bucket');
    expect(new AwsSolutionsChecks().validateScope(app).violations).not.toEqual([]);
  });
});

describe('functions', () => {
  it('are those of the manifest, each with its size, timeout and environment', () => {
    const expected = functionSpecs().map((spec) => ({
      name: `handrail-${spec.name}`,
      memory: spec.memoryMb,
      timeout: spec.timeoutSeconds,
      env: spec.env.map((key) => ENV[key]).sort(),
    }));
    const found = functions.map((properties) => ({
      name: properties.FunctionName,
      memory: properties.MemorySize,
      timeout: properties.Timeout,
      env: Object.keys(properties.Environment.Variables).sort(),
    }));
    expect(found.sort(byName)).toEqual(expected.sort(byName));
  });

  it('run on Node 24 on arm64, with an environment far below the 4 KB that Lambda allows', () => {
    for (const { Runtime, Architectures, Environment } of functions) {
      expect([Runtime, Architectures]).toEqual(['nodejs24.x', ['arm64']]);
      expect(JSON.stringify(Environment).length).toBeLessThan(3_000);
    }
  });

  it('keep logs for a while, not for ever', () => {
    const groups = ofType(agent, 'AWS::Logs::LogGroup');
    // Besides the functions: executions, API access, refused traffic.
    expect(groups.length).toBe(functions.length + 3);
    expect(groups.filter(([, { Properties }]) => typeof Properties['RetentionInDays'] !== 'number')).toEqual([]);
    expect(groups.filter(([, { Properties }]) => Properties['KmsKeyId'] === undefined)).toEqual([]);
  });

  it('query indexes that exist', () => {
    for (const spec of functionSpecs()) {
      for (const { table, indexes } of tableAccess(spec.stores)) {
        const names = TABLES[table].indexes.map(({ name }) => name);
        expect(names).toEqual(expect.arrayContaining([...indexes]));
      }
    }
  });
});

describe('the state machine', () => {
  const [[, resource]] = z
    .tuple([z.tuple([z.string(), z.object({ Properties: z.record(z.string(), z.unknown()) })])])
    .parse(ofType(agent, 'AWS::StepFunctions::StateMachine'));
  const { Properties } = resource;
  const definition = z
    .object({
      States: z.record(
        z.string(),
        z.looseObject({
          TimeoutSeconds: z.number().optional(),
          Parameters: z.looseObject({ FunctionName: z.string().optional() }).optional(),
        }),
      ),
    })
    .parse(JSON.parse(readable(Properties['DefinitionString'])));

  it('has a fixed name, logs every event without data, and is encrypted with our key', () => {
    expect(Properties['StateMachineName']).toBe('handrail-loop');
    expect(Properties['LoggingConfiguration']).toMatchObject({ Level: 'ALL', IncludeExecutionData: false });
    expect(Properties['EncryptionConfiguration']).toMatchObject({ Type: 'CUSTOMER_MANAGED_KMS_KEY' });
  });

  it.each([STATES.reason, STATES.suspend])('invokes in %s a function that exists and ends before its Task does', (name) => {
    const task = definition.States[name];
    const target = functions.find(({ FunctionName }) => task?.Parameters?.FunctionName?.endsWith(`:function:${FunctionName}`));
    expect(task?.TimeoutSeconds).toBeGreaterThan(target?.Timeout ?? Number.POSITIVE_INFINITY);
  });

  it('outlives every tool function', () => {
    const act = z
      .object({ ItemProcessor: z.object({ States: z.record(z.string(), z.looseObject({ TimeoutSeconds: z.number().optional() })) }) })
      .parse(definition.States[STATES.act]);
    const longest = Math.max(...functions.filter(({ FunctionName }) => FunctionName.includes('-tool-')).map(({ Timeout }) => Timeout));
    expect(act.ItemProcessor.States[STATES.invoke]?.TimeoutSeconds).toBeGreaterThan(longest);
  });

  it('tells settle about its executions alone', () => {
    const patterns = ofType(agent, 'AWS::Events::Rule').flatMap(([, rule]) =>
      'EventPattern' in rule.Properties ? [rule.Properties['EventPattern']] : [],
    );
    expect(patterns).toMatchObject([
      { source: ['aws.states'], detail: { status: ['FAILED', 'TIMED_OUT', 'ABORTED'], stateMachineArn: [expect.anything()] } },
    ]);
  });
});

describe('tables', () => {
  it('are on demand, encrypted with our key, restorable and kept, and drop what has expired', () => {
    const tables = ofType(state, 'AWS::DynamoDB::Table');
    expect(tables.map(([, { Properties }]) => readable(Properties['TableName'])).sort()).toEqual([
      'handrail-guard',
      'handrail-memory',
      'handrail-sessions',
    ]);
    for (const [, { Properties, DeletionPolicy }] of tables) {
      expect(Properties).toMatchObject({
        BillingMode: 'PAY_PER_REQUEST',
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
        DeletionProtectionEnabled: true,
        TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
      });
      expect(DeletionPolicy).toBe('Retain');
    }
  });
});

/** Each route of a template, and what it asks a caller for. */
const routes = (template: typeof agent) =>
  Object.fromEntries(
    ofType(template, 'AWS::ApiGatewayV2::Route').map(([, { Properties }]) => [Properties['RouteKey'], Properties['AuthorizationType']]),
  );

/** Public, and yet not open at the gateway. */
const CLOSED: Readonly<Record<string, string>> = { 'POST /console/session': 'signs in by cookie, which only a laptop has' };
/** What the product's own routes say that anyone may ask for. GET is HEAD too, where a person may open it in a browser. */
const OPEN = Object.fromEntries(
  api
    .filter(({ access }) => access === 'public')
    .flatMap(({ method, path }) =>
      (method === 'get' && path !== '/health' ? ['GET', 'HEAD'] : [method.toUpperCase()]).map((name) => `${name} ${path}`),
    )
    .filter((key) => !(key in CLOSED))
    .map((key) => [key, 'NONE']),
);

describe('the API', () => {
  it('asks for a signature by default, except for what is public: liveness, the console without data, the page that a link opens', () => {
    expect(routes(agent)).toEqual({ 'ANY /{proxy+}': 'AWS_IAM', 'ANY /': 'AWS_IAM', ...OPEN });
  });

  it('asks for a token when configured', () => {
    const { agent: jwt } = synthesize({}, 'auth: { mode: jwt, issuer: "https://issuer.example", audience: [handrail] }\n');
    expect(routes(jwt)).toEqual({ 'ANY /{proxy+}': 'JWT', 'ANY /': 'JWT', ...OPEN });
    expect(ofType(jwt, 'AWS::ApiGatewayV2::Authorizer').map(([, { Properties }]) => Properties['JwtConfiguration'])).toEqual([
      { Issuer: 'https://issuer.example', Audience: ['handrail'] },
    ]);
  });

  it('logs who called, and no query string, which may carry the token of a link', () => {
    const [[, stage]] = z
      .tuple([z.tuple([z.string(), z.object({ Properties: z.record(z.string(), z.unknown()) })])])
      .parse(ofType(agent, 'AWS::ApiGatewayV2::Stage'));
    expect(JSON.stringify(stage.Properties['AccessLogSettings'])).not.toMatch(/query|\$context\.routeKey.*\?/i);
    // Who called: of IAM's callers and of a token's.
    for (const who of ['$context.identity.userArn', '$context.identity.caller', '$context.authorizer.claims.sub'])
      expect(JSON.stringify(stage.Properties['AccessLogSettings'])).toContain(who);
    expect(stage.Properties['DefaultRouteSettings']).toMatchObject({ ThrottlingRateLimit: 50 });
  });
});

describe('target emulator', () => {
  /** What may differ, and why. Anything else is a difference between what is tested and what is deployed. */
  const ALLOWED: readonly (readonly [path: RegExp, why: string])[] = [
    [/\.Environment\.Variables\.HANDRAIL_TARGET$/, 'what it is'],
    [/\.Environment\.Variables\.HANDRAIL_WORKSPACE$/, 'a directory of the host instead of a mount'],
    [/^Parameters\.ApiSecret$/, 'a shared secret instead of the authorizer'],
    [/^Resources\.ApiHandlerFunction[0-9A-F]+\.Properties\.Environment\.Variables\.HANDRAIL_API_SECRET$/, 'the shared secret'],
    [/^Resources\.ApiHttp[A-Za-z0-9]+\.Properties\.AuthorizationType$/, 'no authorizer'],
    [/^Resources\.Network/, 'no VPC'],
    [/^Resources\.Tools(?:file|code)Function[0-9A-F]+\.Properties\.(?:VpcConfig|FileSystemConfigs)$/, 'no VPC and no mount'],
    [/^Resources\.Tools(?:file|code)RoleDefaultPolicy[0-9A-F]+\.Properties\.PolicyDocument\.Statement$/, 'the rights of both'],
    [/^Resources\.Workspace/, 'a directory of the host instead of a bucket with a file system'],
    [/^Resources\.ObservabilityWatchThrottled/, 'emulators have no alarms over several metrics'],
    [/^Resources\.ObservabilityOverviewDashboard[0-9A-F]+\.Properties\.DashboardBody/, 'the dashboard shows the alarms there are'],
    [/^Resources\.ObservabilityQueries/, 'emulators have no saved queries, and nothing depends on them'],
  ];

  it('differs in workspace, network and authorizer only', () => {
    const differences = [...differing(agent, emulator.agent, ''), ...differing(state, emulator.state, '')];
    expect(differences.filter((path) => !ALLOWED.some(([allowed]) => allowed.test(path)))).toEqual([]);
    for (const [allowed] of ALLOWED) expect(differences.filter((path) => allowed.test(path))).not.toEqual([]);
  });

  it('checks tokens as AWS does, without a secret, when the configuration names an issuer', () => {
    const { agent: jwt } = synthesize(
      { target: 'emulator' },
      'auth: { mode: jwt, issuer: "http://127.0.0.1:9000", audience: [handrail] }\n',
    );
    expect(routes(jwt)).toEqual({ 'ANY /{proxy+}': 'JWT', 'ANY /': 'JWT', ...OPEN });
    expect(Object.keys(jwt.Parameters)).not.toContain('ApiSecret');
  });

  it('has no secret in the template', () => {
    expect(emulator.agent.Parameters['ApiSecret']).toMatchObject({ NoEcho: true });
    expect(emulator.agent.Parameters['ApiSecret']).not.toHaveProperty('Default');
  });
});

describe('settings', () => {
  it.each([
    ['aws', 'bedrock'],
    ['emulator', 'scripted'],
  ])('give target %s a model when the configuration names no model: %s', (target, provider) => {
    const app = new App({ context: { target } });
    expect(readSettings(app.node, tmpdir()).config.models['default']).toMatchObject({ provider });
  });

  it.each([
    ['a name that no function could have', { name: 'Has Capitals' }, 'context name'],
    ['a target that does not exist', { target: 'moon' }, 'context target'],
    ['a retention that CloudWatch does not have', { logDays: '31' }, 'context logDays'],
    ['a workspace that is not a path', { workspace: 'here' }, 'context workspace'],
    ['a configuration file that is not there', { config: '/nowhere/handrail.config.yaml' }, '/nowhere/handrail.config.yaml'],
  ])('refuse %s', (_what, context, message) => {
    expect(() => synthesize(context)).toThrow(message);
  });

  it('give every name its prefix', () => {
    const { agent: other } = synthesize({ name: 'second' });
    const names = ofType(other, 'AWS::Lambda::Function').map(([, { Properties }]) => readable(Properties['FunctionName']));
    expect(names.filter((name) => !name.startsWith('second-'))).toEqual([]);
  });
});

/** Paths at which two templates differ. */
function differing(left: unknown, right: unknown, path: string): string[] {
  const [a, b] = [asRecord(left), asRecord(right)];
  if (a === undefined || b === undefined) return JSON.stringify(left) === JSON.stringify(right) ? [] : [path];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((key) =>
    differing(a[key], b[key], path === '' ? key : `${path}.${key}`),
  );
}

function asRecord(value: unknown): Record<string, unknown> | undefined {
  const parsed = z.record(z.string(), z.unknown()).safeParse(value);
  return parsed.success ? parsed.data : undefined;
}

const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
