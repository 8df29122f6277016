BEGIN TRANSACTION;
CREATE TABLE charge_amounts (
	workload VARCHAR NOT NULL, 
	resource VARCHAR NOT NULL, 
	namespace VARCHAR NOT NULL, 
	owner VARCHAR, 
	thousands BIGINT NOT NULL, 
	nanos BIGINT NOT NULL, 
	PRIMARY KEY (workload, resource)
);
INSERT INTO "charge_amounts" VALUES('flink.apache.org/FlinkDeployment/team-a/scheduled','cpu','team-a',NULL,0,4000000000);
INSERT INTO "charge_amounts" VALUES('flink.apache.org/FlinkDeployment/team-a/scheduled','memory','team-a',NULL,4294967,296000000000);
INSERT INTO "charge_amounts" VALUES('flink.apache.org/FlinkDeployment/team-a/scheduled','pods','team-a',NULL,0,4000000000);
INSERT INTO "charge_amounts" VALUES('flink.apache.org/FlinkDeployment/team-a/scheduled','count/flinkdeployments.flink.apache.org','team-a',NULL,0,1000000000);
INSERT INTO "charge_amounts" VALUES('flink.apache.org/FlinkDeployment/team-a/promised','cpu','team-a',NULL,0,3000000000);
INSERT INTO "charge_amounts" VALUES('flink.apache.org/FlinkDeployment/team-a/promised','pods','team-a',NULL,0,1000000000);
INSERT INTO "charge_amounts" VALUES('flink.apache.org/FlinkDeployment/team-a/promised','count/flinkdeployments.flink.apache.org','team-a',NULL,0,1000000000);
INSERT INTO "charge_amounts" VALUES('flink.apache.org/FlinkDeployment/team-a/with/slash','cpu','team-a',NULL,0,4000000000);
INSERT INTO "charge_amounts" VALUES('flink.apache.org/FlinkDeployment/team-a/with/slash','pods','team-a',NULL,0,1000000000);
INSERT INTO "charge_amounts" VALUES('flink.apache.org/FlinkDeployment/team-a/with/slash','count/flinkdeployments.flink.apache.org','team-a',NULL,0,1000000000);
INSERT INTO "charge_amounts" VALUES('flink.apache.org/FlinkDeployment/team-a/child','cpu','team-a','x.io/Fleet/team-a/par/ent',0,5000000000);
INSERT INTO "charge_amounts" VALUES('flink.apache.org/FlinkDeployment/team-a/child','pods','team-a','x.io/Fleet/team-a/par/ent',0,1000000000);
INSERT INTO "charge_amounts" VALUES('flink.apache.org/FlinkDeployment/team-a/child','count/flinkdeployments.flink.apache.org','team-a','x.io/Fleet/team-a/par/ent',0,1000000000);
INSERT INTO "charge_amounts" VALUES('x.io/Fleet/team-a/par/ent','cpu','team-a',NULL,0,6000000000);
INSERT INTO "charge_amounts" VALUES('x.io/Fleet/team-a/par/ent','pods','team-a',NULL,0,1000000000);
INSERT INTO "charge_amounts" VALUES('x.io/Fleet/team-a/par/ent','count/fleets.x.io','team-a',NULL,0,1000000000);
INSERT INTO "charge_amounts" VALUES('/Pod//cluster-wide','cpu','',NULL,0,1000000000);
INSERT INTO "charge_amounts" VALUES('/Pod//cluster-wide','pods','',NULL,0,1000000000);
INSERT INTO "charge_amounts" VALUES('/Pod//cluster-wide','count/pods','',NULL,0,1000000000);
INSERT INTO "charge_amounts" VALUES('apps/Deployment/team-b/huge-0','cpu','team-b',NULL,0,1000000000);
INSERT INTO "charge_amounts" VALUES('apps/Deployment/team-b/huge-0','x.io/huge','team-b',NULL,9000000000000000,0);
INSERT INTO "charge_amounts" VALUES('apps/Deployment/team-b/huge-0','pods','team-b',NULL,0,1000000000);
INSERT INTO "charge_amounts" VALUES('apps/Deployment/team-b/huge-0','count/deployments.apps','team-b',NULL,0,1000000000);
INSERT INTO "charge_amounts" VALUES('apps/Deployment/team-b/huge-1','cpu','team-b',NULL,0,1000000000);
INSERT INTO "charge_amounts" VALUES('apps/Deployment/team-b/huge-1','x.io/huge','team-b',NULL,9000000000000000,0);
INSERT INTO "charge_amounts" VALUES('apps/Deployment/team-b/huge-1','pods','team-b',NULL,0,1000000000);
INSERT INTO "charge_amounts" VALUES('apps/Deployment/team-b/huge-1','count/deployments.apps','team-b',NULL,0,1000000000);
CREATE TABLE charges (
	workload VARCHAR NOT NULL, 
	namespace VARCHAR NOT NULL, 
	owner VARCHAR, 
	uid VARCHAR NOT NULL, 
	generation BIGINT NOT NULL, 
	confirmed TEXT, 
	provisional TEXT, 
	expires_at DOUBLE, 
	source VARCHAR NOT NULL, 
	updated_at DOUBLE NOT NULL, 
	marked_at DOUBLE, 
	PRIMARY KEY (workload)
);
INSERT INTO "charges" VALUES('flink.apache.org/FlinkDeployment/team-a/scheduled','team-a',NULL,'',0,'{"components":[{"name":"main","replicas":2,"replicaRequirements":{"resourceRequest":{"cpu":"1","memory":"1Gi"},"priorityClassName":"high"}}],"clusters":[{"name":"m1"},{"name":"m2"}]}','{"components":[{"name":"main","replicas":1,"replicaRequirements":{"resourceRequest":{"cpu":"2"}}}]}',1000600.0,'admission',1000000.0,NULL);
INSERT INTO "charges" VALUES('flink.apache.org/FlinkDeployment/team-a/promised','team-a',NULL,'',0,NULL,'{"components":[{"name":"main","replicas":1,"replicaRequirements":{"resourceRequest":{"cpu":"3"}}}]}',1000600.0,'admission',1000000.0,NULL);
INSERT INTO "charges" VALUES('flink.apache.org/FlinkDeployment/team-a/with/slash','team-a',NULL,'',0,NULL,'{"components":[{"name":"main","replicas":1,"replicaRequirements":{"resourceRequest":{"cpu":"4"}}}]}',1000600.0,'admission',1000000.0,NULL);
INSERT INTO "charges" VALUES('flink.apache.org/FlinkDeployment/team-a/child','team-a','x.io/Fleet/team-a/par/ent','',0,NULL,'{"components":[{"name":"main","replicas":1,"replicaRequirements":{"resourceRequest":{"cpu":"5"}}}]}',1000600.0,'admission',1000000.0,NULL);
INSERT INTO "charges" VALUES('x.io/Fleet/team-a/par/ent','team-a',NULL,'',0,'{"components":[{"name":"main","replicas":1,"replicaRequirements":{"resourceRequest":{"cpu":"6"}}}]}',NULL,NULL,'',1000000.0,NULL);
INSERT INTO "charges" VALUES('/Pod//cluster-wide','',NULL,'',0,'{"components":[{"name":"main","replicas":1,"replicaRequirements":{"resourceRequest":{"cpu":"1"}}}]}',NULL,NULL,'',1000000.0,NULL);
INSERT INTO "charges" VALUES('apps/Deployment/team-b/huge-0','team-b',NULL,'',0,'{"components":[{"name":"main","replicas":1,"replicaRequirements":{"resourceRequest":{"cpu":"1","x.io/huge":"9E"}}}]}',NULL,NULL,'',1000000.0,NULL);
INSERT INTO "charges" VALUES('apps/Deployment/team-b/huge-1','team-b',NULL,'',0,'{"components":[{"name":"main","replicas":1,"replicaRequirements":{"resourceRequest":{"cpu":"1","x.io/huge":"9E"}}}]}',NULL,NULL,'',1000000.0,NULL);
CREATE TABLE decisions (
	id INTEGER NOT NULL, 
	request VARCHAR NOT NULL, 
	at DOUBLE NOT NULL, 
	username VARCHAR NOT NULL, 
	operation VARCHAR NOT NULL, 
	namespace VARCHAR NOT NULL, 
	workload VARCHAR NOT NULL, 
	allowed BOOLEAN NOT NULL, 
	mode VARCHAR NOT NULL, 
	message TEXT NOT NULL, 
	asked TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (request)
);
INSERT INTO "decisions" VALUES(1,'u-1',1000000.0,'alice','CREATE','team-a','flink.apache.org/FlinkDeployment/team-a/scheduled',1,'enforce','','{"count/flinkdeployments.flink.apache.org":"1","cpu":"2","pods":"1"}');
INSERT INTO "decisions" VALUES(2,'CREATE-{"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding", "metadata": {"name": "scheduled-flinkdeployment", "namespace": "team-a"}, "spec": {"clusters": [{"name": "m1"}, {"name": "m2"}], "components": [{"name": "main", "replicaRequirements": {"priorityClassName": "high", "resourceRequest": {"cpu": "1", "memory": "1Gi"}}, "replicas": 2}], "resource": {"apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkDeployment", "name": "scheduled", "namespace": "team-a"}}}',1000000.0,'alice','CREATE','team-a','flink.apache.org/FlinkDeployment/team-a/scheduled',1,'enforce','','{"count/flinkdeployments.flink.apache.org":"1","cpu":"4","memory":"4Gi","pods":"4"}');
INSERT INTO "decisions" VALUES(3,'CREATE-promised-{}',1000000.0,'alice','CREATE','team-a','flink.apache.org/FlinkDeployment/team-a/promised',1,'enforce','','{"count/flinkdeployments.flink.apache.org":"1","cpu":"3","pods":"1"}');
INSERT INTO "decisions" VALUES(4,'CREATE-too-big-{}',1000000.0,'alice','CREATE','team-a','flink.apache.org/FlinkDeployment/team-a/too-big',0,'enforce','FederatedResourceQuota team-a/compute: cpu: used 7, asked 300, limit 100, 207 too much; component main weighs most (300)','{"count/flinkdeployments.flink.apache.org":"1","cpu":"300","pods":"1"}');
INSERT INTO "decisions" VALUES(5,'CREATE-with/slash-{}',1000000.0,'alice','CREATE','team-a','flink.apache.org/FlinkDeployment/team-a/with/slash',1,'enforce','','{"count/flinkdeployments.flink.apache.org":"1","cpu":"4","pods":"1"}');
INSERT INTO "decisions" VALUES(6,'child',1000000.0,'alice','CREATE','team-a','flink.apache.org/FlinkDeployment/team-a/child',1,'enforce','','{"count/flinkdeployments.flink.apache.org":"1","cpu":"5","pods":"1"}');
CREATE TABLE quota_scopes (
	namespace VARCHAR NOT NULL, 
	PRIMARY KEY (namespace)
);
CREATE TABLE schema_version (
	version INTEGER NOT NULL
);
INSERT INTO "schema_version" VALUES(2);
CREATE TABLE sightings (
	workload VARCHAR NOT NULL, 
	namespace VARCHAR NOT NULL, 
	demand TEXT NOT NULL, 
	seen_at DOUBLE NOT NULL, 
	PRIMARY KEY (workload)
);
INSERT INTO "sightings" VALUES('x.io/Fleet/team-a/seen/only','team-a','{"components":[{"name":"main","replicas":1,"replicaRequirements":{"resourceRequest":{"cpu":"7"}}}]}',1000005.0);
CREATE INDEX charges_expiry ON charges (expires_at);
CREATE INDEX charges_namespace ON charges (namespace);
CREATE INDEX charge_amounts_sum ON charge_amounts (namespace, resource, workload, owner, thousands, nanos);
CREATE INDEX decisions_at ON decisions (at);
CREATE INDEX sightings_seen_at ON sightings (seen_at);
CREATE INDEX sightings_namespace ON sightings (namespace);
COMMIT;
