BEGIN TRANSACTION;
CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL CONSTRAINT alembic_version_pkc PRIMARY KEY);
INSERT INTO "alembic_version" VALUES('0006');
CREATE TABLE asked (
	study_id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	config JSON NOT NULL, 
	dimensions JSON NOT NULL, 
	space JSON, 
	CONSTRAINT asked_pk PRIMARY KEY (study_id, seq), 
	CONSTRAINT asked_study_id_fk FOREIGN KEY(study_id) REFERENCES studies (id)
)
 WITHOUT ROWID

;
INSERT INTO "asked" VALUES(10,1,'{"lr":0.000729943004637,"deep":false}','{"lr":{"type":"float","low":0.0001,"high":1.0,"log":true},"deep":{"type":"boolean"}}','{"dimensions":{"lr":{"type":"float","low":0.0001,"high":1.0,"log":true},"deep":{"type":"boolean"}},"always":["deep","lr"]}');
INSERT INTO "asked" VALUES(10,2,'{"lr":0.000199804195986,"layers":1}','{"layers":{"type":"int","low":1,"high":4}}','{"dimensions":{"lr":{"type":"float","low":0.0001,"high":1.0,"log":true},"deep":{"type":"boolean"},"layers":{"type":"int","low":1,"high":4}},"always":["lr"]}');
INSERT INTO "asked" VALUES(10,3,'{"x":0.25}','{"x":{"type":"float","low":0.0,"high":1.0}}','{"dimensions":{"lr":{"type":"float","low":0.0001,"high":1.0,"log":true},"deep":{"type":"boolean"},"layers":{"type":"int","low":1,"high":4},"x":{"type":"float","low":0.0,"high":1.0}},"always":[]}');
INSERT INTO "asked" VALUES(12,1,'{"x":0.5,"rule":"NaN"}','{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["sgd","NaN",null]}}','{"dimensions":{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["sgd","NaN",null]}},"always":["rule","x"]}');
INSERT INTO "asked" VALUES(12,2,'{}','{}','{"dimensions":{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["sgd","NaN",null]}},"always":[]}');
INSERT INTO "asked" VALUES(12,3,'{}','{}',NULL);
INSERT INTO "asked" VALUES(12,4,'{"x":0.5,"rule":"NaN"}','{}',NULL);
INSERT INTO "asked" VALUES(13,1,'{"x":0.5,"rule":"NaN"}','{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["sgd","NaN",null]}}','{"dimensions":{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["sgd","NaN",null]}},"always":["rule","x"]}');
INSERT INTO "asked" VALUES(13,2,'{}','{}','{"dimensions":{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["sgd","NaN",null]}},"always":[]}');
INSERT INTO "asked" VALUES(13,3,'{}','{}',NULL);
INSERT INTO "asked" VALUES(13,4,'{"x":0.5,"rule":"NaN"}','{}',NULL);
CREATE TABLE attempts (
	trial_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	lease_id VARCHAR(64) NOT NULL, 
	request_id VARCHAR(100) NOT NULL, 
	place INTEGER DEFAULT '0' NOT NULL, 
	who VARCHAR(100) DEFAULT 'anonymous' NOT NULL, 
	worker VARCHAR(100) NOT NULL, 
	incarnation VARCHAR(100) NOT NULL, 
	device VARCHAR(100) NOT NULL, 
	gpus INTEGER DEFAULT '0' NOT NULL, 
	task_version VARCHAR(200), 
	environment JSON NOT NULL, 
	last_step BIGINT NOT NULL, 
	points INTEGER DEFAULT '0' NOT NULL, 
	kept_every INTEGER DEFAULT '1' NOT NULL, 
	log_tail TEXT, 
	started_at BIGINT NOT NULL, 
	ended_at BIGINT, 
	outcome VARCHAR(20), 
	cause VARCHAR(30), 
	loss FLOAT, 
	message TEXT, 
	traceback TEXT, 
	late JSON, 
	CONSTRAINT attempts_pk PRIMARY KEY (trial_id, number), 
	CONSTRAINT attempts_who_worker_incarnation_request_id_place_unique UNIQUE (who, worker, incarnation, request_id, place), 
	CONSTRAINT attempts_trial_id_fk FOREIGN KEY(trial_id) REFERENCES trials (id), 
	CONSTRAINT attempts_lease_id_unique UNIQUE (lease_id)
);
INSERT INTO "attempts" VALUES(1,1,'45e54a009d49a59c7f1e5b7e7af4fbd3','wish-1',0,'anonymous','node-1','monday','',0,'1.0','{"torch":"2.13"}',2,3,1,'epoch 3',1793491204000,1793491204750,'succeeded',NULL,0.5,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(2,1,'ccc5e9304fc1c1ea4f6248912e96c138','wish-2',0,'anonymous','node-1','monday','',0,'1.0','{"torch":"2.13"}',2,3,1,'epoch 3',1793491205000,1793491205750,'succeeded',NULL,0.6,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(3,1,'d11898149ec443fe2219ef5160b805e0','wish-3',0,'anonymous','node-1','monday','',0,'1.0','{"torch":"2.13"}',2,3,1,'epoch 3',1793491206000,1793491206750,'succeeded',NULL,0.7,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(4,1,'7d35e1b44998f31f6a16258c3a232f55','wish-4',0,'anonymous','node-1','monday','',0,'1.0','{"torch":"2.13"}',2,3,1,'epoch 3',1793491207000,1793491207750,'succeeded',NULL,0.8,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(5,1,'77126e960ee8a34905cdea716d337517','wish-5',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793491208000,1793491208500,'pruned',NULL,3.0,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(6,1,'cc08534a5405122f26f37b30e4ac4bd2','wish-6',0,'anonymous','node-1','monday','',0,'1.0','{}',-1,0,1,NULL,1793491208750,1793491209000,'diverged',NULL,NULL,'nan',NULL,NULL);
INSERT INTO "attempts" VALUES(7,1,'77d41aa8330b93427ceffd793d92af11','wish-7',0,'anonymous','node-1','monday','',0,'1.0','{}',-1,0,1,NULL,1793491209250,1793491209500,'error',NULL,NULL,'boom','Traceback: boom',NULL);
INSERT INTO "attempts" VALUES(7,2,'eb0574e038ee4826c8b262ece669e409','wish-8',0,'anonymous','node-1','monday','',0,'1.0','{}',-1,0,1,NULL,1793491209750,1793491210000,'out_of_memory',NULL,NULL,'boom','Traceback: boom',NULL);
INSERT INTO "attempts" VALUES(7,3,'b9c1648a0bc0f9ae42fa2b64fd557ed6','wish-9',0,'anonymous','node-1','monday','',0,'1.0','{}',-1,0,1,NULL,1793491210500,1793491210750,'succeeded',NULL,0.9,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(8,1,'25e6c6cf6fd7493c93e977d9846e1737','wish-10',0,'anonymous','node-1','monday','',0,'1.0','{}',-1,0,1,NULL,1793491211000,1793491211250,'time_limit',NULL,NULL,'too slow','',NULL);
INSERT INTO "attempts" VALUES(9,1,'74ca23f341525f6b72e4669441377446','wish-11',0,'anonymous','node-1','monday','',0,'1.0','{}',-1,0,1,NULL,1793491211500,1793491211750,'released',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(9,2,'f1c00affcdfa41b3d0a8bcea0d8682fb','wish-12',0,'anonymous','node-1','monday','',0,'1.0','{}',-1,0,1,NULL,1793491212000,1793491212250,'succeeded',NULL,0.7,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(10,1,'865adf9c9f8f871d749b877c0c874a96','wish-13',0,'anonymous','node-1','monday','',0,'1.0','{}',-1,0,1,NULL,1793491212500,1793491272750,'lost',NULL,NULL,NULL,NULL,'{"state":"succeeded","loss":0.65,"value":null,"diverged":null,"counts":true}');
INSERT INTO "attempts" VALUES(10,2,'020157d80eabbc302d95373e5e462604','wish-14',0,'anonymous','node-3','monday','',0,'1.0','{}',-1,0,1,NULL,1793491272750,1793491273250,'error',NULL,NULL,'no luck either','',NULL);
INSERT INTO "attempts" VALUES(11,1,'38ca69cb80b1a42bdd16215518ee166d','wish-15',0,'anonymous','node-1','monday','',0,'1.0','{}',-1,0,1,NULL,1793491273500,1793491333750,'lost',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(11,2,'0d6ac11963747ac8fabf77255f6cf6da','wish-16',0,'anonymous','node-1','monday','',0,'1.0','{}',-1,0,1,NULL,1793491333750,1793491393750,'lost',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(12,1,'ec163baeff75f112e899d506328bdb1f','wish-17',0,'anonymous','node-3','monday','',0,'1.0','{}',1,2,1,NULL,1793491395000,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(17,1,'d54c2664b1a16e17be7dc15e15d476d5','wish-18',0,'anonymous','node-1','monday','',0,'1.0','{}',-1,0,1,NULL,1793491395750,1793491396000,'succeeded',NULL,0.4,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(19,1,'fa97b71f890eaf7a9a57e83551d826ba','wish-19',0,'anonymous','node-1','monday','',0,'1.0','{}',-1,0,1,NULL,1793491397000,1793491397250,'succeeded',NULL,0.5,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(20,1,'3314d5051d03538b155bf56cdaa3df9e','wish-20',0,'anonymous','node-1','monday','',0,'1.0','{}',-1,0,1,NULL,1793491397500,1793491397750,'succeeded',NULL,0.4,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(21,1,'98ec9ca57f5e124d98ddac59e931a26f','wish-21',0,'anonymous','node-1','monday','',0,'1.0','{}',-1,0,1,NULL,1793491398250,1793491398500,'succeeded',NULL,0.1,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(22,1,'0ab9140a6e3cb39870f9d51900d706b3','wish-22',0,'anonymous','node-1','monday','',0,'1.0','{}',-1,0,1,NULL,1793491398750,1793491399000,'succeeded',NULL,0.2,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(23,1,'be47ca5b37ab86e7cb064abb02166078','wish-23',0,'anonymous','node-1','monday','',0,'1.0','{}',-1,0,1,NULL,1793491399250,1793491399500,'succeeded',NULL,0.3,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(24,1,'32695f2b7d469cb2122c32ac12fc1234','wish-24',0,'anonymous','node-1','monday','',0,'1.0','{}',-1,0,1,NULL,1793491399750,1793491400000,'succeeded',NULL,0.4,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(25,1,'11bf6dd879d2752971cba1576b9f8b87','wish-25',0,'anonymous','node-1','monday','',0,'1.0','{}',-1,0,1,NULL,1793491400500,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(26,1,'59f8c02c4c5261037571bc780a6968ae','wish-26',0,'anonymous','node-1','monday','',0,'1.0','{}',-1,0,1,NULL,1793491401250,1793491401500,'succeeded',NULL,-0.5,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(27,1,'239e33825e02e2eac0ecba4f438120a6','wish-27',0,'anonymous','node-1','monday','',0,'1.0','{}',-1,0,1,NULL,1793491401750,1793491402000,'succeeded',NULL,-0.95,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(30,1,'8ea0fe551a2930bdf0c3b20bca85588b','wish-28',0,'anonymous','node-1','monday','',0,'1.0','{}',-1,0,1,NULL,1793491403250,1793491403500,'succeeded',NULL,0.5,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(31,1,'f718556345c59cbf1c4c176adbf832d4','wish-30',0,'anonymous','node-1','monday','',0,'1.0','{}',-1,0,1,NULL,1793491405250,1793491405500,'succeeded',NULL,0.5,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(32,1,'b7323b31af50d6b275599b5504fdfa28','wish-31',0,'anonymous','node-1','monday','',0,'1.0','{}',-1,0,1,NULL,1793491405750,1793491406000,'error',NULL,NULL,'boom','',NULL);
INSERT INTO "attempts" VALUES(34,1,'50bf1be003887cac0a5f729107b3e1df','wish-32',0,'anonymous','node-1','monday','',0,'1.0','{}',-1,0,1,NULL,1793491406500,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(35,1,'00b25c42579096b3b4255e2836f54472','wish-33',0,'gpu','gpu-1','monday','cuda:0',1,NULL,'{}',-1,0,1,NULL,1793491407250,1793492007500,'succeeded',NULL,0.8,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(36,1,'ab3bb88f10439e9a3f7367c14c880400','wish-34',0,'gpu','gpu-1','monday','cuda:0',1,NULL,'{}',-1,0,1,NULL,1793492007750,1793492608000,'succeeded',NULL,0.6,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(37,1,'9a0ce34ff7eb75d6e53f86778c6dc30c','wish-35',0,'gpu','gpu-1','monday','cuda:0',1,NULL,'{}',-1,0,1,NULL,1793492608250,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE audit (
	id INTEGER NOT NULL, 
	at BIGINT NOT NULL, 
	who VARCHAR(100) NOT NULL, 
	action VARCHAR(50) NOT NULL, 
	subject VARCHAR(300) NOT NULL, 
	data JSON, 
	CONSTRAINT audit_pk PRIMARY KEY (id)
);
INSERT INTO "audit" VALUES(1,1793491200250,'anonymous','project.created','project vision','{"max_running":8,"max_studies":10}');
INSERT INTO "audit" VALUES(2,1793491200500,'anonymous','project.limited','project vision','{"max_running":4}');
INSERT INTO "audit" VALUES(3,1793491200750,'anonymous','token.created','token ann','{"scopes":["admin","read","submit"],"project":null,"expires_at":"2027-01-30T00:00:00.750000+00:00"}');
INSERT INTO "audit" VALUES(4,1793491201000,'anonymous','token.created','token node','{"scopes":["work"],"project":null,"expires_at":"2027-01-30T00:00:01+00:00"}');
INSERT INTO "audit" VALUES(5,1793491201250,'anonymous','token.created','token gone','{"scopes":["read"],"project":null,"expires_at":"2027-01-30T00:00:01.250000+00:00"}');
INSERT INTO "audit" VALUES(6,1793491201500,'anonymous','token.created','token guest','{"scopes":["read"],"project":"vision","expires_at":null}');
INSERT INTO "audit" VALUES(7,1793491201750,'anonymous','token.revoked','token gone',NULL);
INSERT INTO "audit" VALUES(8,1793491203000,'anonymous','webhook.created','1','{"host":"127.0.0.1"}');
INSERT INTO "audit" VALUES(9,1793491203250,'anonymous','webhook.created','2','{"host":"127.0.0.1"}');
INSERT INTO "audit" VALUES(10,1793491203500,'anonymous','webhook.paused','2',NULL);
INSERT INTO "audit" VALUES(11,1793491404750,'anonymous','study.purged','default/purged',NULL);
INSERT INTO "audit" VALUES(12,1793491406750,'anonymous','token.created','token gpu','{"scopes":["work"],"project":"vision","expires_at":null}');
CREATE TABLE clock (
	id INTEGER NOT NULL, 
	offset_milliseconds BIGINT NOT NULL, 
	CONSTRAINT clock_pk PRIMARY KEY (id), 
	CONSTRAINT clock_single_row_check CHECK (id = 1)
);
INSERT INTO "clock" VALUES(1,0);
CREATE TABLE events (
	study_id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	at BIGINT NOT NULL, 
	who VARCHAR(100) NOT NULL, 
	kind VARCHAR(30) NOT NULL, 
	trial INTEGER, 
	attempt INTEGER, 
	"before" VARCHAR(20), 
	"after" VARCHAR(20), 
	cause VARCHAR(30), 
	data JSON, 
	CONSTRAINT events_pk PRIMARY KEY (study_id, seq), 
	CONSTRAINT events_study_id_fk FOREIGN KEY(study_id) REFERENCES studies (id)
)
 WITHOUT ROWID

;
INSERT INTO "events" VALUES(1,1,1793491203750,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(1,2,1793491204000,'anonymous','trial.created',0,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(1,3,1793491204000,'anonymous','trial.moved',0,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(1,4,1793491204750,'anonymous','trial.moved',0,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(1,5,1793491205000,'anonymous','trial.created',1,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(1,6,1793491205000,'anonymous','trial.moved',1,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(1,7,1793491205750,'anonymous','trial.moved',1,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(1,8,1793491206000,'anonymous','trial.created',2,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(1,9,1793491206000,'anonymous','trial.moved',2,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(1,10,1793491206750,'anonymous','trial.moved',2,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(1,11,1793491207000,'anonymous','trial.created',3,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(1,12,1793491207000,'anonymous','trial.moved',3,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(1,13,1793491207750,'anonymous','trial.moved',3,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(1,14,1793491208000,'anonymous','trial.created',4,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(1,15,1793491208000,'anonymous','trial.moved',4,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(1,16,1793491208500,'anonymous','trial.moved',4,1,'running','pruned',NULL,NULL);
INSERT INTO "events" VALUES(1,17,1793491208750,'anonymous','trial.created',5,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(1,18,1793491208750,'anonymous','trial.moved',5,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(1,19,1793491209000,'anonymous','trial.moved',5,1,'running','diverged',NULL,NULL);
INSERT INTO "events" VALUES(1,20,1793491209250,'anonymous','trial.created',6,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(1,21,1793491209250,'anonymous','trial.moved',6,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(1,22,1793491209500,'anonymous','trial.moved',6,1,'running','queued','error',NULL);
INSERT INTO "events" VALUES(1,23,1793491209750,'anonymous','trial.moved',6,2,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(1,24,1793491210000,'anonymous','trial.moved',6,2,'running','failed','out_of_memory',NULL);
INSERT INTO "events" VALUES(1,25,1793491210250,'anonymous','trial.moved',6,NULL,'failed','queued','retried',NULL);
INSERT INTO "events" VALUES(1,26,1793491210500,'anonymous','trial.moved',6,3,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(1,27,1793491210750,'anonymous','trial.moved',6,3,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(1,28,1793491211000,'anonymous','trial.created',7,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(1,29,1793491211000,'anonymous','trial.moved',7,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(1,30,1793491211250,'anonymous','trial.moved',7,1,'running','failed','time_limit',NULL);
INSERT INTO "events" VALUES(1,31,1793491211500,'anonymous','trial.created',8,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(1,32,1793491211500,'anonymous','trial.moved',8,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(1,33,1793491211750,'anonymous','trial.moved',8,1,'running','queued','released',NULL);
INSERT INTO "events" VALUES(1,34,1793491212000,'anonymous','trial.moved',8,2,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(1,35,1793491212250,'anonymous','trial.moved',8,2,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(1,36,1793491212500,'anonymous','trial.created',9,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(1,37,1793491212500,'anonymous','trial.moved',9,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(1,38,1793491272750,'anonymous','trial.moved',9,2,'running','running','lost',NULL);
INSERT INTO "events" VALUES(1,39,1793491273250,'anonymous','trial.moved',9,1,'running','succeeded','late',NULL);
INSERT INTO "events" VALUES(1,40,1793491273500,'anonymous','trial.created',10,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(1,41,1793491273500,'anonymous','trial.moved',10,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(1,42,1793491333750,'anonymous','trial.moved',10,2,'running','running','lost',NULL);
INSERT INTO "events" VALUES(1,43,1793491393750,'server','trial.moved',10,2,'running','failed','attempts_used_up',NULL);
INSERT INTO "events" VALUES(1,44,1793491394000,'anonymous','trial.created',11,NULL,NULL,'queued',NULL,'{"origin":"enqueued"}');
INSERT INTO "events" VALUES(1,45,1793491394000,'anonymous','trial.created',12,NULL,NULL,'queued',NULL,'{"origin":"enqueued"}');
INSERT INTO "events" VALUES(1,46,1793491394000,'anonymous','trial.created',13,NULL,NULL,'queued',NULL,'{"origin":"enqueued"}');
INSERT INTO "events" VALUES(1,47,1793491394000,'anonymous','trial.created',14,NULL,NULL,'succeeded',NULL,'{"origin":"imported"}');
INSERT INTO "events" VALUES(1,48,1793491394000,'anonymous','trial.created',15,NULL,NULL,'diverged',NULL,'{"origin":"imported"}');
INSERT INTO "events" VALUES(1,49,1793491394500,'anonymous','trial.moved',13,NULL,'queued','cancelled',NULL,NULL);
INSERT INTO "events" VALUES(1,50,1793491394750,'anonymous','trial.noted',0,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "events" VALUES(1,51,1793491395000,'anonymous','trial.moved',11,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(2,1,1793491395500,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(2,2,1793491395750,'anonymous','trial.created',0,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(2,3,1793491395750,'anonymous','trial.moved',0,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(2,4,1793491396000,'anonymous','trial.moved',0,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(2,5,1793491396250,'anonymous','trial.created',1,NULL,NULL,'queued',NULL,'{"origin":"enqueued"}');
INSERT INTO "events" VALUES(2,6,1793491396500,'anonymous','study.changed',NULL,NULL,NULL,NULL,NULL,'{"state":"paused"}');
INSERT INTO "events" VALUES(3,1,1793491396750,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(3,2,1793491397000,'anonymous','trial.created',0,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(3,3,1793491397000,'anonymous','trial.moved',0,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(3,4,1793491397250,'anonymous','trial.moved',0,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(3,5,1793491397500,'anonymous','trial.created',1,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(3,6,1793491397500,'anonymous','trial.moved',1,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(3,7,1793491397750,'anonymous','trial.moved',1,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(3,8,1793491397750,'anonymous','study.completed',NULL,NULL,NULL,NULL,NULL,'{"state":"completed","reason":"max_trials"}');
INSERT INTO "events" VALUES(4,1,1793491398000,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(4,2,1793491398250,'anonymous','trial.created',0,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(4,3,1793491398250,'anonymous','trial.moved',0,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(4,4,1793491398500,'anonymous','trial.moved',0,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(4,5,1793491398750,'anonymous','trial.created',1,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(4,6,1793491398750,'anonymous','trial.moved',1,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(4,7,1793491399000,'anonymous','trial.moved',1,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(4,8,1793491399250,'anonymous','trial.created',2,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(4,9,1793491399250,'anonymous','trial.moved',2,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(4,10,1793491399500,'anonymous','trial.moved',2,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(4,11,1793491399750,'anonymous','trial.created',3,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(4,12,1793491399750,'anonymous','trial.moved',3,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(4,13,1793491400000,'anonymous','trial.moved',3,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(5,1,1793491400250,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(5,2,1793491400500,'anonymous','trial.created',0,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(5,3,1793491400500,'anonymous','trial.moved',0,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(5,4,1793491400750,'anonymous','study.changed',NULL,NULL,NULL,NULL,NULL,'{"state":"stopped"}');
INSERT INTO "events" VALUES(6,1,1793491401000,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(6,2,1793491401250,'anonymous','trial.created',0,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(6,3,1793491401250,'anonymous','trial.moved',0,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(6,4,1793491401500,'anonymous','trial.moved',0,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(6,5,1793491401750,'anonymous','trial.created',1,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(6,6,1793491401750,'anonymous','trial.moved',1,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(6,7,1793491402000,'anonymous','trial.moved',1,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(6,8,1793491402000,'anonymous','study.completed',NULL,NULL,NULL,NULL,NULL,'{"state":"completed","reason":"target"}');
INSERT INTO "events" VALUES(7,1,1793491402250,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(7,2,1793491402500,'anonymous','trial.created',0,NULL,NULL,'succeeded',NULL,'{"origin":"imported"}');
INSERT INTO "events" VALUES(7,3,1793491402750,'anonymous','trial.created',1,NULL,NULL,'succeeded',NULL,'{"origin":"memoised"}');
INSERT INTO "events" VALUES(8,1,1793491403000,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(8,2,1793491403250,'anonymous','trial.created',0,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(8,3,1793491403250,'anonymous','trial.moved',0,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(8,4,1793491403500,'anonymous','trial.moved',0,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(8,5,1793491403750,'anonymous','study.archived',NULL,NULL,NULL,NULL,NULL,'{"state":"stopped"}');
INSERT INTO "events" VALUES(10,1,1793491405000,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(10,2,1793491405250,'anonymous','trial.created',0,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(10,3,1793491405250,'anonymous','trial.moved',0,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(10,4,1793491405500,'anonymous','trial.moved',0,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(10,5,1793491405750,'anonymous','trial.created',1,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(10,6,1793491405750,'anonymous','trial.moved',1,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(10,7,1793491406000,'anonymous','trial.moved',1,1,'running','failed','error',NULL);
INSERT INTO "events" VALUES(10,8,1793491406250,'anonymous','trial.created',2,NULL,NULL,'succeeded',NULL,'{"origin":"imported"}');
INSERT INTO "events" VALUES(10,9,1793491406250,'anonymous','trial.created',3,NULL,NULL,'queued',NULL,'{"origin":"enqueued"}');
INSERT INTO "events" VALUES(10,10,1793491406500,'anonymous','trial.moved',3,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(11,1,1793491407000,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(11,2,1793491407250,'gpu','trial.created',0,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(11,3,1793491407250,'gpu','trial.moved',0,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(11,4,1793492007500,'gpu','trial.moved',0,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(11,5,1793492007750,'gpu','trial.created',1,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(11,6,1793492007750,'gpu','trial.moved',1,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(11,7,1793492608000,'gpu','trial.moved',1,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(11,8,1793492608250,'gpu','trial.created',2,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(11,9,1793492608250,'gpu','trial.moved',2,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(11,10,1793492608500,'anonymous','study.changed',NULL,NULL,NULL,NULL,NULL,'{"tags":["gpu"],"max_trials":30}');
INSERT INTO "events" VALUES(12,1,1793492608750,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(12,2,1793492609000,'anonymous','trial.created',0,NULL,NULL,'diverged',NULL,'{"origin":"imported"}');
INSERT INTO "events" VALUES(12,3,1793492609000,'anonymous','trial.created',1,NULL,NULL,'failed',NULL,'{"origin":"imported"}');
INSERT INTO "events" VALUES(12,4,1793492609000,'anonymous','trial.created',2,NULL,NULL,'pruned',NULL,'{"origin":"imported"}');
INSERT INTO "events" VALUES(12,5,1793492609500,'anonymous','trial.created',3,NULL,NULL,'diverged',NULL,'{"origin":"imported"}');
INSERT INTO "events" VALUES(13,1,1793492611250,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(13,2,1793492611500,'anonymous','trial.created',0,NULL,NULL,'diverged',NULL,'{"origin":"imported"}');
INSERT INTO "events" VALUES(13,3,1793492611500,'anonymous','trial.created',1,NULL,NULL,'failed',NULL,'{"origin":"imported"}');
INSERT INTO "events" VALUES(13,4,1793492611500,'anonymous','trial.created',2,NULL,NULL,'pruned',NULL,'{"origin":"imported"}');
INSERT INTO "events" VALUES(13,5,1793492612000,'anonymous','trial.created',3,NULL,NULL,'diverged',NULL,'{"origin":"imported"}');
INSERT INTO "events" VALUES(13,6,1793492612500,'anonymous','study.archived',NULL,NULL,NULL,NULL,NULL,'{"state":"stopped"}');
CREATE TABLE observations (
	study_id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	trial INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	outcome VARCHAR(20) NOT NULL, 
	loss FLOAT, 
	cause VARCHAR(30), 
	CONSTRAINT observations_pk PRIMARY KEY (study_id, seq), 
	CONSTRAINT observations_study_id_fk FOREIGN KEY(study_id) REFERENCES studies (id)
)
 WITHOUT ROWID

;
INSERT INTO "observations" VALUES(1,1,0,1,'succeeded',0.5,NULL);
INSERT INTO "observations" VALUES(1,2,1,1,'succeeded',0.6,NULL);
INSERT INTO "observations" VALUES(1,3,2,1,'succeeded',0.7,NULL);
INSERT INTO "observations" VALUES(1,4,3,1,'succeeded',0.8,NULL);
INSERT INTO "observations" VALUES(1,5,4,1,'pruned',3.0,NULL);
INSERT INTO "observations" VALUES(1,6,5,1,'diverged',NULL,NULL);
INSERT INTO "observations" VALUES(1,7,6,2,'failed',NULL,'out_of_memory');
INSERT INTO "observations" VALUES(1,8,6,2,'queued',NULL,'retried');
INSERT INTO "observations" VALUES(1,9,6,3,'succeeded',0.9,NULL);
INSERT INTO "observations" VALUES(1,10,7,1,'failed',NULL,'time_limit');
INSERT INTO "observations" VALUES(1,11,8,2,'succeeded',0.7,NULL);
INSERT INTO "observations" VALUES(1,12,9,1,'succeeded',0.65,'late');
INSERT INTO "observations" VALUES(1,13,10,2,'failed',NULL,'attempts_used_up');
INSERT INTO "observations" VALUES(1,14,14,0,'succeeded',0.31,NULL);
INSERT INTO "observations" VALUES(1,15,15,0,'diverged',NULL,NULL);
INSERT INTO "observations" VALUES(1,16,13,0,'cancelled',NULL,NULL);
INSERT INTO "observations" VALUES(2,1,0,1,'succeeded',0.4,NULL);
INSERT INTO "observations" VALUES(3,1,0,1,'succeeded',0.5,NULL);
INSERT INTO "observations" VALUES(3,2,1,1,'succeeded',0.4,NULL);
INSERT INTO "observations" VALUES(4,1,0,1,'succeeded',0.1,NULL);
INSERT INTO "observations" VALUES(4,2,1,1,'succeeded',0.2,NULL);
INSERT INTO "observations" VALUES(4,3,2,1,'succeeded',0.3,NULL);
INSERT INTO "observations" VALUES(4,4,3,1,'succeeded',0.4,NULL);
INSERT INTO "observations" VALUES(6,1,0,1,'succeeded',-0.5,NULL);
INSERT INTO "observations" VALUES(6,2,1,1,'succeeded',-0.95,NULL);
INSERT INTO "observations" VALUES(7,1,0,0,'succeeded',0.2,NULL);
INSERT INTO "observations" VALUES(7,2,1,0,'succeeded',0.2,NULL);
INSERT INTO "observations" VALUES(8,1,0,1,'succeeded',0.5,NULL);
INSERT INTO "observations" VALUES(10,1,0,1,'succeeded',0.5,NULL);
INSERT INTO "observations" VALUES(10,2,1,1,'failed',NULL,'error');
INSERT INTO "observations" VALUES(10,3,2,0,'succeeded',0.4,NULL);
INSERT INTO "observations" VALUES(11,1,0,1,'succeeded',0.8,NULL);
INSERT INTO "observations" VALUES(11,2,1,1,'succeeded',0.6,NULL);
INSERT INTO "observations" VALUES(12,1,0,0,'diverged',NULL,NULL);
INSERT INTO "observations" VALUES(12,2,1,0,'failed',NULL,NULL);
INSERT INTO "observations" VALUES(12,3,2,0,'pruned',NULL,NULL);
INSERT INTO "observations" VALUES(12,4,3,0,'diverged',NULL,NULL);
INSERT INTO "observations" VALUES(13,1,0,0,'diverged',NULL,NULL);
INSERT INTO "observations" VALUES(13,2,1,0,'failed',NULL,NULL);
INSERT INTO "observations" VALUES(13,3,2,0,'pruned',NULL,NULL);
INSERT INTO "observations" VALUES(13,4,3,0,'diverged',NULL,NULL);
CREATE TABLE offers (
	digest VARCHAR(64) NOT NULL, 
	document JSON NOT NULL, 
	CONSTRAINT offers_pk PRIMARY KEY (digest)
)
 WITHOUT ROWID

;
INSERT INTO "offers" VALUES('bd46135d6651fc8049c117e605d50aa9696095d63553bb796d01938cb2860d00','{"schema":{"properties":{"lr":{"type":"number"}}},"spaces":{"usual":{"lr":{"type":"float","low":0.0,"high":1.0}}}}');
CREATE TABLE optuna_attributes (
	study_id INTEGER NOT NULL, 
	kind VARCHAR(10) NOT NULL, 
	name VARCHAR(500) NOT NULL, 
	value TEXT NOT NULL, 
	CONSTRAINT optuna_attributes_pk PRIMARY KEY (study_id, kind, name), 
	CONSTRAINT optuna_attributes_study_id_fk FOREIGN KEY(study_id) REFERENCES optuna_studies (id)
)
 WITHOUT ROWID

;
INSERT INTO "optuna_attributes" VALUES(1,'system','','[NaN, Infinity]');
INSERT INTO "optuna_attributes" VALUES(1,'user','who','"ann"');
INSERT INTO "optuna_attributes" VALUES(2,'system','','[NaN, Infinity]');
INSERT INTO "optuna_attributes" VALUES(2,'user','who','"ann"');
CREATE TABLE optuna_dimensions (
	study_id INTEGER NOT NULL, 
	name VARCHAR(500) NOT NULL, 
	distribution TEXT NOT NULL, 
	CONSTRAINT optuna_dimensions_pk PRIMARY KEY (study_id, name), 
	CONSTRAINT optuna_dimensions_study_id_fk FOREIGN KEY(study_id) REFERENCES optuna_studies (id)
)
 WITHOUT ROWID

;
INSERT INTO "optuna_dimensions" VALUES(1,'rule','{"name": "CategoricalDistribution", "attributes": {"choices": ["sgd", NaN, null]}}');
INSERT INTO "optuna_dimensions" VALUES(1,'x','{"name": "FloatDistribution", "attributes": {"low": 0.0, "high": 1.0, "log": false}}');
INSERT INTO "optuna_dimensions" VALUES(2,'rule','{"name": "CategoricalDistribution", "attributes": {"choices": ["sgd", NaN, null]}}');
INSERT INTO "optuna_dimensions" VALUES(2,'x','{"name": "FloatDistribution", "attributes": {"low": 0.0, "high": 1.0, "log": false}}');
CREATE TABLE optuna_entries (
	trial_id INTEGER NOT NULL, 
	kind VARCHAR(10) NOT NULL, 
	name VARCHAR(500) NOT NULL, 
	place INTEGER NOT NULL, 
	value TEXT NOT NULL, 
	CONSTRAINT optuna_entries_pk PRIMARY KEY (trial_id, kind, name), 
	CONSTRAINT optuna_entries_trial_id_fk FOREIGN KEY(trial_id) REFERENCES optuna_trials (id)
)
 WITHOUT ROWID

;
INSERT INTO "optuna_entries" VALUES(1,'param','rule',1,'[1.0, "{\"name\": \"CategoricalDistribution\", \"attributes\": {\"choices\": [\"sgd\", NaN, null]}}"]');
INSERT INTO "optuna_entries" VALUES(1,'param','x',0,'[0.5, "{\"name\": \"FloatDistribution\", \"attributes\": {\"low\": 0.0, \"high\": 1.0, \"log\": false}}"]');
INSERT INTO "optuna_entries" VALUES(1,'step','1',2,'"NaN"');
INSERT INTO "optuna_entries" VALUES(3,'param','rule',1,'[1.0, "{\"name\": \"CategoricalDistribution\", \"attributes\": {\"choices\": [\"sgd\", NaN, null]}}"]');
INSERT INTO "optuna_entries" VALUES(3,'param','x',0,'[0.5, "{\"name\": \"FloatDistribution\", \"attributes\": {\"low\": 0.0, \"high\": 1.0, \"log\": false}}"]');
INSERT INTO "optuna_entries" VALUES(3,'step','1',2,'"NaN"');
INSERT INTO "optuna_entries" VALUES(7,'param','rule',1,'[1.0, "{\"name\": \"CategoricalDistribution\", \"attributes\": {\"choices\": [\"sgd\", NaN, null]}}"]');
INSERT INTO "optuna_entries" VALUES(7,'param','x',0,'[0.5, "{\"name\": \"FloatDistribution\", \"attributes\": {\"low\": 0.0, \"high\": 1.0, \"log\": false}}"]');
INSERT INTO "optuna_entries" VALUES(7,'step','1',2,'"NaN"');
INSERT INTO "optuna_entries" VALUES(9,'param','rule',1,'[1.0, "{\"name\": \"CategoricalDistribution\", \"attributes\": {\"choices\": [\"sgd\", NaN, null]}}"]');
INSERT INTO "optuna_entries" VALUES(9,'param','x',0,'[0.5, "{\"name\": \"FloatDistribution\", \"attributes\": {\"low\": 0.0, \"high\": 1.0, \"log\": false}}"]');
INSERT INTO "optuna_entries" VALUES(9,'step','1',2,'"NaN"');
CREATE TABLE optuna_studies (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	project_id INTEGER NOT NULL, 
	name VARCHAR(500) NOT NULL, 
	directions JSON NOT NULL, 
	trials INTEGER DEFAULT '0' NOT NULL, 
	seq BIGINT DEFAULT '0' NOT NULL, 
	size INTEGER DEFAULT '0' NOT NULL, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT optuna_studies_project_id_name_unique UNIQUE (project_id, name), 
	CONSTRAINT optuna_studies_project_id_fk FOREIGN KEY(project_id) REFERENCES projects (id)
);
INSERT INTO "optuna_studies" VALUES(1,1,'theirs','["minimize"]',6,8,23,1793492608750);
INSERT INTO "optuna_studies" VALUES(2,1,'two','["minimize","maximize"]',6,8,23,1793492610000);
CREATE TABLE optuna_trials (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	study_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	seq BIGINT NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	results JSON, 
	started_at BIGINT, 
	completed_at BIGINT, 
	heard_at BIGINT, 
	size INTEGER DEFAULT '0' NOT NULL, 
	entries INTEGER DEFAULT '0' NOT NULL, 
	CONSTRAINT optuna_trials_study_id_number_unique UNIQUE (study_id, number), 
	CONSTRAINT optuna_trials_study_id_fk FOREIGN KEY(study_id) REFERENCES optuna_studies (id)
);
INSERT INTO "optuna_trials" VALUES(1,1,0,8,'complete','["Infinity"]',1793492609000000,1793492609500000,NULL,217,3);
INSERT INTO "optuna_trials" VALUES(2,1,1,2,'running',NULL,1793492609000000,NULL,1793492609750,0,0);
INSERT INTO "optuna_trials" VALUES(3,1,2,3,'complete','["Infinity"]',1793491200123456,1793491201000000,NULL,217,3);
INSERT INTO "optuna_trials" VALUES(4,1,3,4,'waiting',NULL,NULL,NULL,NULL,0,0);
INSERT INTO "optuna_trials" VALUES(5,1,4,5,'fail',NULL,1793492609000000,1793492609000000,NULL,0,0);
INSERT INTO "optuna_trials" VALUES(6,1,5,6,'pruned',NULL,1793492609000000,1793492609000000,NULL,0,0);
INSERT INTO "optuna_trials" VALUES(7,2,0,8,'complete','["Infinity",0.25]',1793492610250000,1793492610750000,NULL,217,3);
INSERT INTO "optuna_trials" VALUES(8,2,1,2,'running',NULL,1793492610250000,NULL,1793492611000,0,0);
INSERT INTO "optuna_trials" VALUES(9,2,2,3,'complete','["Infinity",0.25]',1793491200123456,1793491201000000,NULL,217,3);
INSERT INTO "optuna_trials" VALUES(10,2,3,4,'waiting',NULL,NULL,NULL,NULL,0,0);
INSERT INTO "optuna_trials" VALUES(11,2,4,5,'fail',NULL,1793492610250000,1793492610250000,NULL,0,0);
INSERT INTO "optuna_trials" VALUES(12,2,5,6,'pruned',NULL,1793492610250000,1793492610250000,NULL,0,0);
CREATE TABLE projects (
	id INTEGER NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	max_running INTEGER, 
	max_studies INTEGER, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT projects_pk PRIMARY KEY (id), 
	CONSTRAINT projects_name_unique UNIQUE (name)
);
INSERT INTO "projects" VALUES(1,'default',NULL,NULL,0);
INSERT INTO "projects" VALUES(2,'vision',4,10,1793491200250);
CREATE TABLE replies (
	who VARCHAR(100) NOT NULL, 
	idempotency_key VARCHAR(200) NOT NULL, 
	request VARCHAR(64) NOT NULL, 
	status INTEGER NOT NULL, 
	body TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT replies_pk PRIMARY KEY (who, idempotency_key)
);
INSERT INTO "replies" VALUES('anonymous','k1','eb6ac8ff029a5a08fcc9d5afd62e432242094a10e679e7566fbd7a5f0a3603a3',201,'{"trials":[{"trial":11,"state":"queued","is_new":true},{"trial":12,"state":"queued","is_new":true},{"trial":13,"state":"queued","is_new":true},{"trial":14,"state":"succeeded","is_new":true},{"trial":15,"state":"diverged","is_new":true}]}',1793491394000);
CREATE TABLE reports (
	trial_id INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	first_step BIGINT NOT NULL, 
	points JSON NOT NULL, 
	CONSTRAINT reports_pk PRIMARY KEY (trial_id, attempt, first_step), 
	CONSTRAINT reports_trial_id_fk FOREIGN KEY(trial_id) REFERENCES trials (id)
);
INSERT INTO "reports" VALUES(1,1,0,'[{"step":0,"metrics":{"loss":1.0}},{"step":1,"metrics":{"loss":0.8}}]');
INSERT INTO "reports" VALUES(1,1,2,'[{"step":2,"metrics":{"loss":0.5}}]');
INSERT INTO "reports" VALUES(2,1,0,'[{"step":0,"metrics":{"loss":1.0}},{"step":1,"metrics":{"loss":0.9}}]');
INSERT INTO "reports" VALUES(2,1,2,'[{"step":2,"metrics":{"loss":0.6}}]');
INSERT INTO "reports" VALUES(3,1,0,'[{"step":0,"metrics":{"loss":1.0}},{"step":1,"metrics":{"loss":1.0}}]');
INSERT INTO "reports" VALUES(3,1,2,'[{"step":2,"metrics":{"loss":0.7}}]');
INSERT INTO "reports" VALUES(4,1,0,'[{"step":0,"metrics":{"loss":1.0}},{"step":1,"metrics":{"loss":1.1}}]');
INSERT INTO "reports" VALUES(4,1,2,'[{"step":2,"metrics":{"loss":0.8}}]');
INSERT INTO "reports" VALUES(5,1,0,'[{"step":0,"metrics":{"loss":2.0}},{"step":1,"metrics":{"loss":3.0}}]');
INSERT INTO "reports" VALUES(12,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.8}}]');
CREATE TABLE studies (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	project_id INTEGER DEFAULT '1' NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	task VARCHAR(100) NOT NULL, 
	space JSON NOT NULL, 
	is_open BOOLEAN DEFAULT false NOT NULL, 
	strategy VARCHAR(100) NOT NULL, 
	strategy_settings JSON DEFAULT '{}' NOT NULL, 
	direction VARCHAR(10) DEFAULT 'minimize' NOT NULL, 
	seed BIGINT NOT NULL, 
	max_trials INTEGER NOT NULL, 
	max_running INTEGER, 
	max_attempts INTEGER NOT NULL, 
	max_gpu_hours FLOAT, 
	deadline BIGINT, 
	target FLOAT, 
	stopping JSON, 
	retry JSON DEFAULT '["error", "out_of_memory", "stalled", "lost"]' NOT NULL, 
	failures_repel BOOLEAN DEFAULT true NOT NULL, 
	duplicates VARCHAR(10) DEFAULT 'forbid' NOT NULL, 
	allow_versions BOOLEAN DEFAULT false NOT NULL, 
	task_version VARCHAR(200), 
	requires JSON DEFAULT '{}' NOT NULL, 
	state VARCHAR(20) NOT NULL, 
	reason VARCHAR(30), 
	priority INTEGER DEFAULT '10' NOT NULL, 
	served FLOAT DEFAULT '0' NOT NULL, 
	tags JSON DEFAULT '[]' NOT NULL, 
	notes TEXT DEFAULT '' NOT NULL, 
	attributes JSON DEFAULT '{}' NOT NULL, 
	trials INTEGER NOT NULL, 
	observations INTEGER NOT NULL, 
	turns INTEGER DEFAULT '0' NOT NULL, 
	imported INTEGER DEFAULT '0' NOT NULL, 
	events INTEGER DEFAULT '0' NOT NULL, 
	events_removed INTEGER DEFAULT '0' NOT NULL, 
	curves_removed INTEGER DEFAULT '0' NOT NULL, 
	queued INTEGER DEFAULT '0' NOT NULL, 
	running INTEGER DEFAULT '0' NOT NULL, 
	succeeded INTEGER DEFAULT '0' NOT NULL, 
	diverged INTEGER DEFAULT '0' NOT NULL, 
	pruned INTEGER DEFAULT '0' NOT NULL, 
	failed INTEGER DEFAULT '0' NOT NULL, 
	cancelled INTEGER DEFAULT '0' NOT NULL, 
	gpus_running INTEGER DEFAULT '0' NOT NULL, 
	gpu_milliseconds BIGINT DEFAULT '0' NOT NULL, 
	submitted JSON DEFAULT '{}' NOT NULL, 
	created_at BIGINT NOT NULL, 
	completed_at BIGINT, 
	archived_at BIGINT, 
	mirrors BIGINT, 
	CONSTRAINT studies_project_id_name_unique UNIQUE (project_id, name), 
	CONSTRAINT studies_project_id_fk FOREIGN KEY(project_id) REFERENCES projects (id)
);
INSERT INTO "studies" VALUES(1,1,'search','train','{"lr":{"type":"float","low":0.0001,"high":1.0,"log":true},"width":{"type":"int","low":8,"high":64,"step":8},"rule":{"type":"categorical","choices":["sgd","kfac"]},"size":{"type":"ordinal","choices":["narrow","middle","wide"]},"nesterov":{"type":"boolean","when":{"rule":["sgd"]}}}',0,'biased_random','{"version":1,"acceptance":{"name":"sharpening_rank","trials":10.0},"neighbours":1,"initial":8,"explore":0.02,"local":0.8,"pending":"ignore"}','minimize',1,60,NULL,2,NULL,NULL,NULL,'{"rule":"median","metric":"loss","percentile":50.0,"warm_up":0.0,"min_curves":2}','["error","out_of_memory","stalled","lost"]',1,'forbid',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','active',NULL,10,1.70000000000000039968e+00,'["baseline"]','The first one; it''s "quoted".','{"owner":"ann"}',16,16,11,2,51,0,0,1,1,8,2,1,2,1,0,0,'{"max_trials":60}',1793491203750,NULL,NULL,NULL);
INSERT INTO "studies" VALUES(2,1,'paused','train','{"x":{"type":"float","low":0.0,"high":1.0}}',0,'biased_random','{"version":1,"acceptance":{"name":"linear"},"neighbours":1,"initial":1,"explore":0.0,"local":0.0,"pending":"ignore"}','minimize',1,20,NULL,3,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','paused',NULL,20,7.50000000000000444089e-01,'[]','','{}',2,1,1,0,6,0,0,1,0,1,0,0,0,0,0,0,'{"max_trials":20}',1793491395500,NULL,NULL,NULL);
INSERT INTO "studies" VALUES(3,1,'finished','train','{"x":{"type":"float","low":0.0,"high":1.0}}',0,'random','{"version":1}','minimize',1,2,NULL,3,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','completed','max_trials',10,9.00000000000000355271e-01,'[]','','{}',2,2,2,0,8,0,0,0,0,2,0,0,0,0,0,0,'{"max_trials":2}',1793491396750,1793491397750,NULL,NULL);
INSERT INTO "studies" VALUES(4,1,'exhausted','train','{"a":{"type":"boolean"},"b":{"type":"boolean"}}',0,'grid','{"version":1,"levels":20,"order":"row_major"}','minimize',1,20,NULL,3,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','active',NULL,10,1.1000000000000005329e+00,'[]','','{}',4,4,4,0,13,0,0,0,0,4,0,0,0,0,0,0,'{"max_trials":20}',1793491398000,NULL,NULL,NULL);
INSERT INTO "studies" VALUES(5,1,'stopped','train','{"x":{"type":"float","low":0.0,"high":1.0}}',0,'quasi_random','{"version":1}','minimize',1,20,NULL,3,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','stopped',NULL,10,8.00000000000000377475e-01,'[]','','{}',1,0,1,0,4,0,0,0,1,0,0,0,0,0,0,0,'{"max_trials":20}',1793491400250,NULL,NULL,NULL);
INSERT INTO "studies" VALUES(6,1,'reached','train','{"x":{"type":"float","low":0.0,"high":1.0}}',0,'biased_random','{"version":1,"acceptance":{"name":"sharpening_rank","trials":10.0},"neighbours":1,"initial":8,"explore":0.02,"local":0.8,"pending":"ignore"}','maximize',1,20,NULL,3,NULL,NULL,-0.9,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','completed','target',10,9.00000000000000355271e-01,'[]','','{}',2,2,2,0,8,0,0,0,0,2,0,0,0,0,0,0,'{"max_trials":20,"target":-0.9}',1793491401000,1793491402000,NULL,NULL);
INSERT INTO "studies" VALUES(7,1,'memoised','train','{"x":{"type":"float","low":0.0,"high":1.0}}',0,'biased_random','{"version":1,"acceptance":{"name":"sharpening_rank","trials":10.0},"neighbours":1,"initial":8,"explore":0.02,"local":0.8,"pending":"ignore"}','minimize',1,20,NULL,3,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',0,'memoise',0,NULL,'{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','active',NULL,10,0.0,'[]','','{}',2,2,0,1,3,0,0,0,0,2,0,0,0,0,0,0,'{"max_trials":20}',1793491402250,NULL,NULL,NULL);
INSERT INTO "studies" VALUES(8,1,'archived','train','{"x":{"type":"float","low":0.0,"high":1.0}}',0,'biased_random','{"version":1,"acceptance":{"name":"sharpening_rank","trials":10.0},"neighbours":1,"initial":8,"explore":0.02,"local":0.8,"pending":"ignore"}','minimize',1,20,NULL,3,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','stopped',NULL,10,8.00000000000000377475e-01,'[]','','{}',1,1,1,0,5,0,0,0,0,1,0,0,0,0,0,0,'{"max_trials":20}',1793491403000,NULL,1793491403750,NULL);
INSERT INTO "studies" VALUES(10,1,'open','train','"open"',1,'biased_random','{"version":1,"acceptance":{"name":"sharpening_rank","trials":10.0},"neighbours":1,"initial":8,"explore":0.02,"local":0.8,"pending":"ignore"}','minimize',1,20,NULL,1,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','active',NULL,10,1.00000000000000044408e+00,'[]','','{}',4,3,2,1,10,0,0,0,1,2,0,0,1,0,0,0,'{"max_trials":20}',1793491405000,NULL,NULL,NULL);
INSERT INTO "studies" VALUES(11,2,'theirs','train','{"x":{"type":"float","low":0.0,"high":1.0}}',0,'biased_random','{"version":1,"acceptance":{"name":"sharpening_rank","trials":10.0},"neighbours":1,"initial":8,"explore":0.02,"local":0.8,"pending":"ignore"}','minimize',1,30,2,3,5.0,1924992000000,NULL,NULL,'["lost"]',1,'forbid',0,NULL,'{"gpus":1,"gpu_memory_gb":0.0,"labels":{}}','active',NULL,10,1.00000000000000044408e+00,'["gpu"]','','{}',3,2,3,0,10,0,0,0,1,2,0,0,0,0,1,-1793491407750,'{"max_trials":20,"max_running":2,"max_gpu_hours":5.0,"deadline":1924992000.0}',1793491407000,NULL,NULL,NULL);
INSERT INTO "studies" VALUES(12,1,'theirs','optuna','"open"',1,'random','{"version":1}','minimize',0,1,NULL,1,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'allow',0,NULL,'{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','active',NULL,10,0.0,'["optuna"]','Mirrors the study ''theirs'' of Optuna: every trial of it that has finished.','{"optuna_study":1}',4,4,0,4,5,0,0,0,0,0,2,1,1,0,0,0,'{}',1793492608750,NULL,NULL,1);
INSERT INTO "studies" VALUES(13,1,'gone','optuna','"open"',1,'random','{"version":1}','minimize',0,1,NULL,1,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'allow',0,NULL,'{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','stopped',NULL,10,0.0,'["optuna"]','Mirrors the study ''gone'' of Optuna: every trial of it that has finished.','{"optuna_study":3}',4,4,0,4,6,0,0,0,0,0,2,1,1,0,0,0,'{}',1793492611250,NULL,1793492612500,3);
CREATE TABLE tokens (
	id INTEGER NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	scopes JSON NOT NULL, 
	project_id INTEGER, 
	created_at BIGINT NOT NULL, 
	created_by VARCHAR(100) NOT NULL, 
	expires_at BIGINT, 
	revoked_at BIGINT, 
	CONSTRAINT tokens_pk PRIMARY KEY (id), 
	CONSTRAINT tokens_name_unique UNIQUE (name), 
	CONSTRAINT tokens_digest_unique UNIQUE (digest), 
	CONSTRAINT tokens_project_id_fk FOREIGN KEY(project_id) REFERENCES projects (id)
);
INSERT INTO "tokens" VALUES(1,'ann','63764e75951e2f70153abbb2cf106e8a091d141eda98c696067ae804c1dc13b3','["admin","read","submit"]',NULL,1793491200750,'anonymous',1801267200750,NULL);
INSERT INTO "tokens" VALUES(2,'node','5b38a3437d2336e3c8d97871940b602b61cd687501a23c77a48af2da66684fb7','["work"]',NULL,1793491201000,'anonymous',1801267201000,NULL);
INSERT INTO "tokens" VALUES(3,'gone','26d1a976284a788dd47b9f2fc8ec6d733a55b9ded295cecf726021ba37589edd','["read"]',NULL,1793491201250,'anonymous',1801267201250,1793491201750);
INSERT INTO "tokens" VALUES(4,'guest','42c02c45918f0e41fc2dcaeea5874d1a593f68b10417d5487b09e929aa977ebe','["read"]',2,1793491201500,'anonymous',NULL,NULL);
INSERT INTO "tokens" VALUES(5,'gpu','a83d496650420a5525e2c89d12dfbea88ce9f678bbee905f2dcf7412dc4f3d58','["work"]',2,1793491406750,'anonymous',NULL,NULL);
CREATE TABLE trials (
	id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	origin VARCHAR(20) DEFAULT 'proposed' NOT NULL, 
	turn INTEGER, 
	watermark INTEGER, 
	config JSON NOT NULL, 
	start JSON, 
	config_key VARCHAR(64) NOT NULL, 
	seed BIGINT NOT NULL, 
	reasons JSON NOT NULL, 
	state VARCHAR(20) NOT NULL, 
	cause VARCHAR(30), 
	loss FLOAT, 
	attempts INTEGER NOT NULL, 
	max_attempts INTEGER NOT NULL, 
	lease_id VARCHAR(64), 
	lease_milliseconds BIGINT, 
	free_at BIGINT NOT NULL, 
	notes TEXT DEFAULT '' NOT NULL, 
	attributes JSON DEFAULT '{}' NOT NULL, 
	created_at BIGINT NOT NULL, 
	finished_at BIGINT, 
	CONSTRAINT trials_pk PRIMARY KEY (id), 
	CONSTRAINT trials_study_id_number_unique UNIQUE (study_id, number), 
	CONSTRAINT trials_study_id_config_key_unique UNIQUE (study_id, config_key), 
	CONSTRAINT trials_study_id_fk FOREIGN KEY(study_id) REFERENCES studies (id)
);
INSERT INTO "trials" VALUES(1,1,0,'proposed',0,0,'{"lr":0.17923228597,"width":56,"rule":"kfac","size":"middle"}',NULL,'c1b283ab67820b5f031fd6f5550bb3e1206b318b3176d00e1d25e1852377a23f',5854950545185455,'{"strategy":"biased_random","watermark":0,"draw":"initial","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.5,1,2,'45e54a009d49a59c7f1e5b7e7af4fbd3',30000,1793491234500,'The power failed here.','{"a":1}',1793491204000,1793491204750);
INSERT INTO "trials" VALUES(2,1,1,'proposed',1,1,'{"lr":0.000199804195986,"width":64,"rule":"kfac","size":"wide"}',NULL,'6008cd6f3a445e7f5004f1c3f2d9ddf22ae81aed4ed5d3ad0c3da8fb6704c2b8',7554410117382319,'{"strategy":"biased_random","watermark":1,"draw":"initial","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.6,1,2,'ccc5e9304fc1c1ea4f6248912e96c138',30000,1793491235500,'','{}',1793491205000,1793491205750);
INSERT INTO "trials" VALUES(3,1,2,'proposed',2,2,'{"lr":0.015514661951,"width":56,"rule":"sgd","size":"wide","nesterov":true}',NULL,'30b9e8e40ebf03907735220ed9c3df929163ec0fa9c7d9e0fc2ff9cb988d3eb3',3632089929981814,'{"strategy":"biased_random","watermark":2,"draw":"initial","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.7,1,2,'d11898149ec443fe2219ef5160b805e0',30000,1793491236500,'','{}',1793491206000,1793491206750);
INSERT INTO "trials" VALUES(4,1,3,'proposed',3,3,'{"lr":0.0912820515555,"width":56,"rule":"kfac","size":"narrow"}',NULL,'8fa547930f0bc018d37a0ca33334177d20d5409e3fff101402eefbaaed33412e',4712910346481374,'{"strategy":"biased_random","watermark":3,"draw":"initial","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.8,1,2,'7d35e1b44998f31f6a16258c3a232f55',30000,1793491237500,'','{}',1793491207000,1793491207750);
INSERT INTO "trials" VALUES(5,1,4,'proposed',4,4,'{"lr":0.63789561431,"width":32,"rule":"sgd","size":"wide","nesterov":true}',NULL,'efd682e0df03c489f5dfffddc3f2044ca5c3fed6a997d60fd78d53f43c9e84b0',2574326112439867,'{"strategy":"biased_random","watermark":4,"draw":"initial","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','pruned',NULL,3.0,1,2,'77126e960ee8a34905cdea716d337517',30000,1793491238250,'','{}',1793491208000,1793491208500);
INSERT INTO "trials" VALUES(6,1,5,'proposed',5,5,'{"lr":0.0742578024471,"width":32,"rule":"kfac","size":"wide"}',NULL,'10a6fcf285aa80e4646a66a7b1b20d1c83c3262f844912de9c989a8e04b98438',3603335978758971,'{"strategy":"biased_random","watermark":5,"draw":"initial","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','diverged',NULL,NULL,1,2,'cc08534a5405122f26f37b30e4ac4bd2',30000,1793491238750,'','{}',1793491208750,1793491209000);
INSERT INTO "trials" VALUES(7,1,6,'proposed',6,6,'{"lr":0.00844920240805,"width":8,"rule":"kfac","size":"narrow"}',NULL,'b94ad881ce948c4871e36a4b34b4d1867844186eddbe33a3b2299e941f3c4f47',3454990870116558,'{"strategy":"biased_random","watermark":6,"draw":"initial","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.9,3,4,'b9c1648a0bc0f9ae42fa2b64fd557ed6',30000,1793491240500,'','{}',1793491209250,1793491210750);
INSERT INTO "trials" VALUES(8,1,7,'proposed',7,9,'{"lr":0.338740653486,"width":24,"rule":"kfac","size":"narrow"}',NULL,'5bb9a0e154db15fd6a90bd6e3402db3d4ce4abcc636619cee060df169d1a11d5',2159311904508941,'{"strategy":"biased_random","watermark":9,"draw":"initial","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','failed','time_limit',NULL,1,2,'25e6c6cf6fd7493c93e977d9846e1737',30000,1793491241000,'','{}',1793491211000,1793491211250);
INSERT INTO "trials" VALUES(9,1,8,'proposed',8,10,'{"lr":0.000771714895962,"width":56,"rule":"kfac","size":"wide"}',NULL,'6d4641afedb1b71f2ec721bc004db6a1c39a6e136b298b98c2144f23bc8bb8ea',2968957234454642,'{"strategy":"biased_random","watermark":10,"draw":"uniform","refused":0,"last_refused":[],"forced":false,"nearest_trial":1,"nearest_is_pending":false,"distance":0.19274263883931103,"estimate":0.6,"neighbourhood":1,"acceptance":0.7334860891939293,"parent":null,"expected_share":null}','succeeded',NULL,0.7,2,3,'f1c00affcdfa41b3d0a8bcea0d8682fb',30000,1793491242000,'','{}',1793491211500,1793491212250);
INSERT INTO "trials" VALUES(10,1,9,'proposed',9,11,'{"lr":0.000666400528616,"width":40,"rule":"sgd","size":"wide","nesterov":false}',NULL,'9beba99e69df74b3c8e025ffe6288946f46571f40e0a78f701c1f266f8c25f82',6506242002484145,'{"strategy":"biased_random","watermark":11,"draw":"uniform","refused":0,"last_refused":[],"forced":false,"nearest_trial":2,"nearest_is_pending":false,"distance":1.085953155500766,"estimate":0.7,"neighbourhood":1,"acceptance":0.45144625303760305,"parent":null,"expected_share":null}','succeeded','late',0.65,2,2,'020157d80eabbc302d95373e5e462604',30000,1793491302750,'','{}',1793491212500,1793491273250);
INSERT INTO "trials" VALUES(11,1,10,'proposed',10,12,'{"lr":0.013617396429,"width":56,"rule":"kfac","size":"wide"}',NULL,'3bd151e840b81574ef6eb7ded882dd655b4d9ebd431b9e1b3d38a64ee6786ff7',6314891083002266,'{"strategy":"biased_random","watermark":12,"draw":"uniform","refused":1,"last_refused":[{"config":{"lr":0.014320276897,"width":8,"rule":"kfac","size":"wide"},"nearest_trial":5,"estimate":null,"acceptance":0.0}],"forced":false,"nearest_trial":8,"nearest_is_pending":false,"distance":0.3116592993858247,"estimate":0.7,"neighbourhood":1,"acceptance":0.33514504345685076,"parent":null,"expected_share":null}','failed','attempts_used_up',NULL,2,2,'0d6ac11963747ac8fabf77255f6cf6da',30000,1793491363750,'','{}',1793491273500,1793491393750);
INSERT INTO "trials" VALUES(12,1,11,'enqueued',NULL,NULL,'{"lr":0.01,"width":16,"rule":"kfac","size":"wide"}',NULL,'b23dbe2ed1026d417924a8a6aeae896cfb05c1618818f14bbebb61b8d114825a',2227609028781291,'{}','running',NULL,NULL,1,2,'ec163baeff75f112e899d506328bdb1f',30000,1793491425250,'','{}',1793491394000,NULL);
INSERT INTO "trials" VALUES(13,1,12,'enqueued',NULL,NULL,'{"lr":0.01,"width":24,"rule":"kfac","size":"wide"}',NULL,'ec8e49811a4c6be0af8e735c99a5fceefc55c81b02671f36eed5d87e92b6b86d',7255323533543380,'{}','queued',NULL,NULL,0,2,NULL,NULL,1793491394000,'','{}',1793491394000,NULL);
INSERT INTO "trials" VALUES(14,1,13,'enqueued',NULL,NULL,'{"lr":0.01,"width":32,"rule":"kfac","size":"wide"}',NULL,'3d3c3e16d770dc31206f2ccadd2680e6f74f83395db9322e25924bc2cb80b534',8904966413696112,'{}','cancelled',NULL,NULL,0,2,NULL,NULL,1793491394000,'','{}',1793491394000,1793491394500);
INSERT INTO "trials" VALUES(15,1,14,'imported',NULL,NULL,'{"lr":0.01,"width":40,"rule":"kfac","size":"wide"}',NULL,'4e651835bfe4624fdf3be203f4681071de281a379a799f632a0af0840b8d1eb9',8338851320006675,'{}','succeeded',NULL,0.31,0,2,NULL,NULL,1793491394000,'','{}',1793491394000,1793491394000);
INSERT INTO "trials" VALUES(16,1,15,'imported',NULL,NULL,'{"lr":0.01,"width":48,"rule":"kfac","size":"wide"}',NULL,'00a9dc90591c3803d17dcf722bc55d1b6f6f15c6072494a56864d9ec13f9dc7f',7773570716014711,'{}','diverged',NULL,NULL,0,2,NULL,NULL,1793491394000,'','{}',1793491394000,1793491394000);
INSERT INTO "trials" VALUES(17,2,0,'proposed',0,0,'{"x":0.813354060979}',NULL,'69924794c4ff764b71e49b59be3879fc0d97dc2efd8d87b7ccb805ed14fe85a7',5854950545185455,'{"strategy":"biased_random","watermark":0,"draw":"initial","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.4,1,3,'d54c2664b1a16e17be7dc15e15d476d5',30000,1793491425750,'','{}',1793491395750,1793491396000);
INSERT INTO "trials" VALUES(18,2,1,'enqueued',NULL,NULL,'{"x":0.25}',NULL,'9f85d5abaad41c9ffaca22d0d4036e5baaed227c5ed86969a43ff7d3d6528cab',7554410117382319,'{}','queued',NULL,NULL,0,3,NULL,NULL,1793491396250,'','{}',1793491396250,NULL);
INSERT INTO "trials" VALUES(19,3,0,'proposed',0,0,'{"x":0.813354060979}',NULL,'69924794c4ff764b71e49b59be3879fc0d97dc2efd8d87b7ccb805ed14fe85a7',5854950545185455,'{"strategy":"random","watermark":0,"draw":"uniform","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.5,1,3,'fa97b71f890eaf7a9a57e83551d826ba',30000,1793491427000,'','{}',1793491397000,1793491397250);
INSERT INTO "trials" VALUES(20,3,1,'proposed',1,1,'{"x":0.0751511510959}',NULL,'ba4c71058e02141e93b19efa62c82428e536130cd05d2f9a589edd56231f660f',7554410117382319,'{"strategy":"random","watermark":1,"draw":"uniform","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.4,1,3,'3314d5051d03538b155bf56cdaa3df9e',30000,1793491427500,'','{}',1793491397500,1793491397750);
INSERT INTO "trials" VALUES(21,4,0,'proposed',0,0,'{"a":false,"b":false}',NULL,'10eb12861546e953ae8fdadc2b6558461b5af6d790929d081c21743622e4d86b',5854950545185455,'{"strategy":"grid","watermark":0,"draw":"grid","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.1,1,3,'98ec9ca57f5e124d98ddac59e931a26f',30000,1793491428250,'','{}',1793491398250,1793491398500);
INSERT INTO "trials" VALUES(22,4,1,'proposed',1,1,'{"a":false,"b":true}',NULL,'fa59f59e6d51fd60bca1fdde5b90378aac933deaba6ca6a1211cecc86cebc166',7554410117382319,'{"strategy":"grid","watermark":1,"draw":"grid","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.2,1,3,'0ab9140a6e3cb39870f9d51900d706b3',30000,1793491428750,'','{}',1793491398750,1793491399000);
INSERT INTO "trials" VALUES(23,4,2,'proposed',2,2,'{"a":true,"b":false}',NULL,'cf5ce5d22cc0da3c5aa620a9652583597ad367d1e69a668b4ddceecaf010d5a8',3632089929981814,'{"strategy":"grid","watermark":2,"draw":"grid","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.3,1,3,'be47ca5b37ab86e7cb064abb02166078',30000,1793491429250,'','{}',1793491399250,1793491399500);
INSERT INTO "trials" VALUES(24,4,3,'proposed',3,3,'{"a":true,"b":true}',NULL,'4947bff777a27a43600a4dfdcafa492208495c601a59f8cc3728ce700119fc9b',4712910346481374,'{"strategy":"grid","watermark":3,"draw":"grid","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.4,1,3,'32695f2b7d469cb2122c32ac12fc1234',30000,1793491429750,'','{}',1793491399750,1793491400000);
INSERT INTO "trials" VALUES(25,5,0,'proposed',0,0,'{"x":0.32489336154}',NULL,'e75ca5716a6f3d99cb494caea8a06090c2bbfbdaf45178ea91fe460659f17d95',5854950545185455,'{"strategy":"quasi_random","watermark":0,"draw":"quasi_random","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','running',NULL,NULL,1,3,'11bf6dd879d2752971cba1576b9f8b87',30000,1793491430500,'','{}',1793491400500,NULL);
INSERT INTO "trials" VALUES(26,6,0,'proposed',0,0,'{"x":0.813354060979}',NULL,'69924794c4ff764b71e49b59be3879fc0d97dc2efd8d87b7ccb805ed14fe85a7',5854950545185455,'{"strategy":"biased_random","watermark":0,"draw":"initial","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,-0.5,1,3,'59f8c02c4c5261037571bc780a6968ae',30000,1793491431250,'','{}',1793491401250,1793491401500);
INSERT INTO "trials" VALUES(27,6,1,'proposed',1,1,'{"x":0.0751511510959}',NULL,'ba4c71058e02141e93b19efa62c82428e536130cd05d2f9a589edd56231f660f',7554410117382319,'{"strategy":"biased_random","watermark":1,"draw":"initial","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,-0.95,1,3,'239e33825e02e2eac0ecba4f438120a6',30000,1793491431750,'','{}',1793491401750,1793491402000);
INSERT INTO "trials" VALUES(28,7,0,'imported',NULL,NULL,'{"x":0.5}',NULL,'ad0233224b23c9622ebd084088f2c1647737a4cabad828e4349bbed0d9b42e11',5854950545185455,'{}','succeeded',NULL,0.2,0,3,NULL,NULL,1793491402500,'','{}',1793491402500,1793491402500);
INSERT INTO "trials" VALUES(29,7,1,'memoised',NULL,NULL,'{"x":0.5}',NULL,'cd41044dc11f59a9ded985d5562fff47a7774f94d89d67fba318cb22257f1c26',7554410117382319,'{}','succeeded',NULL,0.2,0,3,NULL,NULL,1793491402750,'','{}',1793491402750,1793491402750);
INSERT INTO "trials" VALUES(30,8,0,'proposed',0,0,'{"x":0.813354060979}',NULL,'69924794c4ff764b71e49b59be3879fc0d97dc2efd8d87b7ccb805ed14fe85a7',5854950545185455,'{"strategy":"biased_random","watermark":0,"draw":"initial","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.5,1,3,'8ea0fe551a2930bdf0c3b20bca85588b',30000,1793491433250,'','{}',1793491403250,1793491403500);
INSERT INTO "trials" VALUES(31,10,0,'proposed',0,0,'{"lr":0.000729943004637,"deep":false}','{}','9261e5981a7ba1745b2b50ca3dead61a4672692bd9403f3feef4f600763cbfe8',5854950545185455,'{"strategy":"biased_random","watermark":0,"draw":"initial","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.5,1,1,'f718556345c59cbf1c4c176adbf832d4',30000,1793491435250,'','{}',1793491405250,1793491405500);
INSERT INTO "trials" VALUES(32,10,1,'proposed',1,1,'{"lr":0.000199804195986,"layers":1}','{"lr":0.000199804195986,"deep":true}','b1c820b70577476577199aa0825dfd775943c3646e4b542c4c902e63c007613e',7554410117382319,'{"strategy":"biased_random","watermark":1,"draw":"initial","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','failed','error',NULL,1,1,'b7323b31af50d6b275599b5504fdfa28',30000,1793491435750,'','{}',1793491405750,1793491406000);
INSERT INTO "trials" VALUES(33,10,2,'imported',NULL,NULL,'{"x":0.25}','{"x":0.25}','8eb160eac08ef6cceea3099caf9a8be0fdfc9061d1a127dda49986207a4c1d8e',3632089929981814,'{}','succeeded',NULL,0.4,0,1,NULL,NULL,1793491406250,'','{}',1793491406250,1793491406250);
INSERT INTO "trials" VALUES(34,10,3,'enqueued',NULL,NULL,'{"lr":0.3,"unheard":"of"}','{"lr":0.3,"unheard":"of"}','499915caa945b20cf1a74e81fd3a97f9bd9ecfd6bdefe095a18ce41285dbd207',4712910346481374,'{}','running',NULL,NULL,1,1,'50bf1be003887cac0a5f729107b3e1df',30000,1793491436500,'','{}',1793491406250,NULL);
INSERT INTO "trials" VALUES(35,11,0,'proposed',0,0,'{"x":0.813354060979}',NULL,'69924794c4ff764b71e49b59be3879fc0d97dc2efd8d87b7ccb805ed14fe85a7',5854950545185455,'{"strategy":"biased_random","watermark":0,"draw":"initial","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.8,1,3,'00b25c42579096b3b4255e2836f54472',3600000,1793495007250,'','{}',1793491407250,1793492007500);
INSERT INTO "trials" VALUES(36,11,1,'proposed',1,1,'{"x":0.0751511510959}',NULL,'ba4c71058e02141e93b19efa62c82428e536130cd05d2f9a589edd56231f660f',7554410117382319,'{"strategy":"biased_random","watermark":1,"draw":"initial","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.6,1,3,'ab3bb88f10439e9a3f7367c14c880400',3600000,1793495607750,'','{}',1793492007750,1793492608000);
INSERT INTO "trials" VALUES(37,11,2,'proposed',2,2,'{"x":0.547685579295}',NULL,'1b84564775c60625bcb1ea6829b4b9bced1669c4f1011b34b1ae63e2ab8645a3',3632089929981814,'{"strategy":"biased_random","watermark":2,"draw":"initial","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','running',NULL,NULL,1,3,'9a0ce34ff7eb75d6e53f86778c6dc30c',3600000,1793496208250,'','{}',1793492608250,NULL);
INSERT INTO "trials" VALUES(38,12,0,'imported',NULL,NULL,'{"x":0.5,"rule":"NaN"}','{"x":0.5,"rule":"NaN"}','10c089d8a13e4f52cff5a5697488f6008e45400926332c11c64b77671e1a3f8c',6067409321135427,'{}','diverged',NULL,NULL,0,1,NULL,NULL,1793492609000,'','{"optuna_number":2}',1793492609000,1793492609000);
INSERT INTO "trials" VALUES(39,12,1,'imported',NULL,NULL,'{}','{}','b407fb7b14169e13d4675c5538bcb02e5647955b99348f095775065e698cae65',8411718770426228,'{}','failed',NULL,NULL,0,1,NULL,NULL,1793492609000,'','{"optuna_number":4}',1793492609000,1793492609000);
INSERT INTO "trials" VALUES(40,12,2,'imported',NULL,NULL,'{}','{}','ce16a3676ab6009741a83cc4ad4d3a9765c7d2feab279c574c9452dc1f7d86b7',5177691448596831,'{}','pruned',NULL,NULL,0,1,NULL,NULL,1793492609000,'','{"optuna_number":5}',1793492609000,1793492609000);
INSERT INTO "trials" VALUES(41,12,3,'imported',NULL,NULL,'{"x":0.5,"rule":"NaN"}','{"x":0.5,"rule":"NaN"}','879df081a7fe8776f00065f73dac7059633074e11b081ae3d96f49ed0998f3b9',4180860179833327,'{}','diverged',NULL,NULL,0,1,NULL,NULL,1793492609500,'','{"optuna_number":0}',1793492609500,1793492609500);
INSERT INTO "trials" VALUES(42,13,0,'imported',NULL,NULL,'{"x":0.5,"rule":"NaN"}','{"x":0.5,"rule":"NaN"}','10c089d8a13e4f52cff5a5697488f6008e45400926332c11c64b77671e1a3f8c',6067409321135427,'{}','diverged',NULL,NULL,0,1,NULL,NULL,1793492611500,'','{"optuna_number":2}',1793492611500,1793492611500);
INSERT INTO "trials" VALUES(43,13,1,'imported',NULL,NULL,'{}','{}','b407fb7b14169e13d4675c5538bcb02e5647955b99348f095775065e698cae65',8411718770426228,'{}','failed',NULL,NULL,0,1,NULL,NULL,1793492611500,'','{"optuna_number":4}',1793492611500,1793492611500);
INSERT INTO "trials" VALUES(44,13,2,'imported',NULL,NULL,'{}','{}','ce16a3676ab6009741a83cc4ad4d3a9765c7d2feab279c574c9452dc1f7d86b7',5177691448596831,'{}','pruned',NULL,NULL,0,1,NULL,NULL,1793492611500,'','{"optuna_number":5}',1793492611500,1793492611500);
INSERT INTO "trials" VALUES(45,13,3,'imported',NULL,NULL,'{"x":0.5,"rule":"NaN"}','{"x":0.5,"rule":"NaN"}','879df081a7fe8776f00065f73dac7059633074e11b081ae3d96f49ed0998f3b9',4180860179833327,'{}','diverged',NULL,NULL,0,1,NULL,NULL,1793492612000,'','{"optuna_number":0}',1793492612000,1793492612000);
CREATE TABLE webhook_cursors (
	webhook_id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	sending INTEGER, 
	CONSTRAINT webhook_cursors_pk PRIMARY KEY (webhook_id, study_id), 
	CONSTRAINT webhook_cursors_webhook_id_fk FOREIGN KEY(webhook_id) REFERENCES webhooks (id) ON DELETE CASCADE, 
	CONSTRAINT webhook_cursors_study_id_fk FOREIGN KEY(study_id) REFERENCES studies (id) ON DELETE CASCADE
);
INSERT INTO "webhook_cursors" VALUES(1,1,51,NULL);
INSERT INTO "webhook_cursors" VALUES(1,2,0,6);
CREATE TABLE webhooks (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	project_id INTEGER NOT NULL, 
	study VARCHAR(100), 
	url VARCHAR(2000) NOT NULL, 
	secret VARCHAR(100) NOT NULL, 
	kinds JSON NOT NULL, 
	is_active BOOLEAN NOT NULL, 
	failures INTEGER NOT NULL, 
	last_error TEXT, 
	due_at BIGINT NOT NULL, 
	created_at BIGINT NOT NULL, 
	created_by VARCHAR(100) NOT NULL, 
	CONSTRAINT webhooks_project_id_fk FOREIGN KEY(project_id) REFERENCES projects (id)
);
INSERT INTO "webhooks" VALUES(1,1,NULL,'http://127.0.0.1:9/hook','bc17bbe948a75834c18373f70431728d06501d7a135a54719ef384dd9a6e7785','[]',1,1,'connection refused',1793492668500,1793491203000,'anonymous');
INSERT INTO "webhooks" VALUES(2,1,NULL,'http://127.0.0.1:9/hook','ba4d16cee68320eba68e778c499d7eeaa83c98033caae017ec903eb8d13710d7','["study.completed"]',0,0,NULL,1793491203250,1793491203250,'anonymous');
CREATE TABLE workers (
	name VARCHAR(100) NOT NULL, 
	who VARCHAR(100) NOT NULL, 
	incarnation VARCHAR(100) NOT NULL, 
	devices JSON NOT NULL, 
	slots INTEGER NOT NULL, 
	labels JSON NOT NULL, 
	tasks JSON NOT NULL, 
	is_draining BOOLEAN NOT NULL, 
	registered_at BIGINT NOT NULL, 
	seen_at BIGINT NOT NULL, 
	CONSTRAINT workers_pk PRIMARY KEY (name)
);
INSERT INTO "workers" VALUES('node-1','anonymous','monday','[{"name":"cuda:0","gpus":1,"gpu_memory_gb":80.0}]',1,'{"pool":"a"}','[{"name":"train","version":"1.0","description":"","offer":"bd46135d6651fc8049c117e605d50aa9696095d63553bb796d01938cb2860d00"}]',0,1793491202000,1793491202000);
INSERT INTO "workers" VALUES('node-2','anonymous','monday','[{"name":"cuda:0","gpus":1,"gpu_memory_gb":80.0}]',1,'{}','[{"name":"train","version":"1.0","description":"","offer":"bd46135d6651fc8049c117e605d50aa9696095d63553bb796d01938cb2860d00"}]',1,1793491202250,1793491202250);
INSERT INTO "workers" VALUES('node-3','anonymous','monday','[{"name":"cuda:0","gpus":1,"gpu_memory_gb":80.0}]',1,'{}','[{"name":"train","version":"1.0","description":"","offer":"bd46135d6651fc8049c117e605d50aa9696095d63553bb796d01938cb2860d00"}]',0,1793491202500,1793491202500);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('webhooks',2);
INSERT INTO "sqlite_sequence" VALUES('studies',13);
INSERT INTO "sqlite_sequence" VALUES('optuna_studies',3);
INSERT INTO "sqlite_sequence" VALUES('optuna_trials',18);
CREATE INDEX attempts_under_way ON attempts (worker, trial_id) WHERE ended_at IS NULL;
CREATE INDEX optuna_trials_heard ON optuna_trials (study_id, heard_at) WHERE heard_at IS NOT NULL;
CREATE INDEX replies_by_age ON replies (created_at);
CREATE INDEX spaces_asked ON asked (study_id, seq) WHERE space IS NOT NULL;
CREATE INDEX studies_by_state ON studies (state);
CREATE INDEX trials_by_end ON trials (study_id, state, finished_at, number) WHERE finished_at IS NOT NULL;
CREATE INDEX trials_by_loss ON trials (study_id, loss, number) WHERE state = 'succeeded';
CREATE INDEX trials_by_state ON trials (study_id, state, number);
CREATE INDEX trials_of_people ON trials (study_id, origin, number) WHERE origin <> 'proposed';
CREATE INDEX trials_overdue ON trials (free_at, id) WHERE state = 'running';
CREATE INDEX trials_to_lease ON trials (study_id, free_at, id) WHERE state = 'queued';
CREATE UNIQUE INDEX mirrors ON studies (mirrors);
CREATE UNIQUE INDEX optuna_trials_by_change ON optuna_trials (study_id, seq);
CREATE UNIQUE INDEX trials_by_turn ON trials (study_id, turn) WHERE turn IS NOT NULL;
COMMIT;
