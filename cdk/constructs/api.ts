import { CfnParameter, Duration } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  HttpApi,
  HttpMethod,
  HttpNoneAuthorizer,
  HttpStage,
  type IHttpRouteAuthorizer,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpIamAuthorizer, HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Construct } from 'constructs';
import { apiAuth, type FunctionSpec } from '../../lib/manifest.ts';
import { acknowledge } from './acknowledge.ts';
import type { Deployment } from './deployment.ts';
import { LambdaFunction } from './lambda-function.ts';
import { logGroupOf } from './log-group.ts';

export interface ApiProps {
  readonly deployment: Deployment;
  readonly spec: FunctionSpec;
}

/** Requests per second, for the whole API. Runs cost money; a client gone wild must not. */
const THROTTLE = { rateLimit: 50, burstLimit: 100 };

const LOOK = [HttpMethod.GET, HttpMethod.HEAD];
const CONSOLE = 'A file of the console, the same for everybody: it holds no data, and reads all it shows through routes that are not open';

/** Every route goes to one function, which knows them; what is open without an authorizer is listed here, with the reason. */
const OPEN_ROUTES = [
  { path: '/health', methods: [HttpMethod.GET], reason: 'Liveness for load balancers and uptime checks; it tells nothing' },
  {
    path: '/a/{suspensionId}',
    methods: [HttpMethod.GET, HttpMethod.HEAD, HttpMethod.POST],
    reason: 'The approval page: people come by a link with a token of 256 bits, which the function checks',
  },
  { path: '/', methods: LOOK, reason: CONSOLE },
  { path: '/console.js', methods: LOOK, reason: CONSOLE },
  { path: '/console.css', methods: LOOK, reason: CONSOLE },
] as const;

/** The HTTP API. */
export class Api extends Construct {
  readonly url: string;
  readonly id: string;
  /** How callers show who they are. */
  readonly auth: ReturnType<typeof apiAuth>;

  constructor(scope: Construct, id: string, props: ApiProps) {
    super(scope, id);
    const { deployment, spec } = props;
    this.auth = apiAuth(deployment.settings.target, deployment.settings.config.auth);
    const secret = this.auth === 'secret' ? { apiSecret: secretParameter(this) } : {};
    const { function: handler } = new LambdaFunction(this, 'Handler', { deployment, spec, environment: secret });
    const integration = new HttpLambdaIntegration('Integration', handler, { timeout: Duration.seconds(29) });
    const api = new HttpApi(this, 'Http', { apiName: deployment.settings.name, createDefaultStage: false });
    const stage = this.stage(api, deployment);
    const authorizer = authorizerOf(deployment, this.auth);
    const closed = ['/{proxy+}', '/'].flatMap((path) => api.addRoutes({ path, integration, authorizer }));
    if (this.auth === 'secret') {
      for (const route of closed)
        acknowledge(route, { 'AwsSolutions-APIG4': 'Emulators do not check signatures; the function checks a shared secret' });
    }
    for (const { path, methods, reason } of OPEN_ROUTES) {
      const routes = api.addRoutes({ path, methods: [...methods], integration, authorizer: new HttpNoneAuthorizer() });
      for (const route of routes) acknowledge(route, { 'AwsSolutions-APIG4': reason });
    }
    this.url = stage.url;
    this.id = api.apiId;
  }

  private stage(api: HttpApi, deployment: Deployment): HttpStage {
    const logGroup = logGroupOf(this, 'AccessLogs', deployment, `/aws/vendedlogs/apigateway/${deployment.settings.name}`);
    return new HttpStage(this, 'Stage', {
      httpApi: api,
      stageName: '$default',
      autoDeploy: true,
      throttle: THROTTLE,
      // The path without the query: links to approvals carry their token there.
      accessLogSettings: { destination: new LogGroupLogDestination(logGroup), format: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG)) },
    });
  }
}

/** Who calls is the gateway's word: of a signature the ARN and the id of the caller, of a token its subject. `-` where there is none. */
const ACCESS_LOG = {
  requestId: '$context.requestId',
  time: '$context.requestTimeEpoch',
  ip: '$context.identity.sourceIp',
  caller: '$context.identity.userArn',
  callerId: '$context.identity.caller',
  subject: '$context.authorizer.claims.sub',
  method: '$context.httpMethod',
  path: '$context.path',
  status: '$context.status',
  bytes: '$context.responseLength',
  ms: '$context.responseLatency',
  error: '$context.error.message',
};

function authorizerOf({ settings }: Deployment, by: Api['auth']): IHttpRouteAuthorizer {
  const { auth } = settings.config;
  if (auth.mode === 'jwt') return new HttpJwtAuthorizer('Jwt', auth.issuer, { jwtAudience: auth.audience });
  return by === 'secret' ? new HttpNoneAuthorizer() : new HttpIamAuthorizer();
}

function secretParameter(scope: Construct): string {
  const parameter = new CfnParameter(scope, 'Secret', { noEcho: true, minLength: 32, description: 'Bearer secret of the API' });
  parameter.overrideLogicalId('ApiSecret');
  return parameter.valueAsString;
}
