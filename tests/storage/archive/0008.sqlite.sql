BEGIN TRANSACTION;
CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL CONSTRAINT alembic_version_pkc PRIMARY KEY);
INSERT INTO "alembic_version" VALUES('0008');
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
INSERT INTO "asked" VALUES(33,1,'{"x":0.5,"rule":"NaN"}','{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["sgd","NaN",null]}}','{"dimensions":{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["sgd","NaN",null]}},"always":["rule","x"]}');
INSERT INTO "asked" VALUES(33,2,'{}','{}','{"dimensions":{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["sgd","NaN",null]}},"always":[]}');
INSERT INTO "asked" VALUES(33,3,'{}','{}',NULL);
INSERT INTO "asked" VALUES(33,4,'{"x":0.5,"rule":"NaN"}','{}',NULL);
INSERT INTO "asked" VALUES(34,1,'{"x":0.5,"rule":"NaN"}','{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["sgd","NaN",null]}}','{"dimensions":{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["sgd","NaN",null]}},"always":["rule","x"]}');
INSERT INTO "asked" VALUES(34,2,'{}','{}','{"dimensions":{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["sgd","NaN",null]}},"always":[]}');
INSERT INTO "asked" VALUES(34,3,'{}','{}',NULL);
INSERT INTO "asked" VALUES(34,4,'{"x":0.5,"rule":"NaN"}','{}',NULL);
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
INSERT INTO "attempts" VALUES(5,1,'77126e960ee8a34905cdea716d337517','wish-5',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793491208000,1793491208500,'pruned',NULL,3.0,'Stop: its best loss up to step 1, 2, is worse than 0.975, the median of the mean losses of 4 other trials up to there.',NULL,NULL);
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
INSERT INTO "attempts" VALUES(38,1,'2deebdb982df69213655a0fc714cc503','wish-36',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492610000,1793492610500,'succeeded',NULL,0.5,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(39,1,'0a8ea2b7e58b37c15b819a001b50f1fa','wish-37',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492611000,1793492611500,'succeeded',NULL,0.51,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(40,1,'5c4236a61bf8d132edc6a7df4f236b4d','wish-38',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492612000,1793492612500,'succeeded',NULL,0.52,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(41,1,'7ee18d65c9f4aca0bc0dd314b6aa9705','wish-39',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492613000,1793492613500,'diverged',NULL,NULL,'nan',NULL,NULL);
INSERT INTO "attempts" VALUES(42,1,'6dd92722812a50a76a71578550d138d1','wish-40',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492614000,1793492614500,'succeeded',NULL,0.54,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(43,1,'8249c1041504d40a8ee8680afd18ab34','wish-41',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492615000,1793492615500,'succeeded',NULL,0.55,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(44,1,'b301ece846c174d90dcfc00a300babd8','wish-42',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492616000,1793492616500,'succeeded',NULL,0.56,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(45,1,'220318e715076b753b4be0a35909796f','wish-43',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492617000,1793492617500,'diverged',NULL,NULL,'nan',NULL,NULL);
INSERT INTO "attempts" VALUES(50,1,'5f1447022cea71236574a926b3ba7845','wish-44',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492618000,1793492618500,'succeeded',NULL,0.58,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(51,1,'f295db9e4f5f2109c7468c0af6f40545','wish-45',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492619000,1793492619500,'succeeded',NULL,0.59,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(52,1,'8f77698c0c263021bdb81c4bfcd9691d','wish-46',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492620000,1793492620500,'succeeded',NULL,0.6,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(53,1,'a99ee685dd8289bae611241207d37b4d','wish-47',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492621000,1793492621500,'diverged',NULL,NULL,'nan',NULL,NULL);
INSERT INTO "attempts" VALUES(46,1,'15c89de8821b2e7b695e587909e94a56','wish-48',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492622000,1793492622500,'succeeded',NULL,0.62,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(47,1,'4cad18b393876b7f4a6b316dd0dbae09','wish-49',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492623000,1793492623500,'succeeded',NULL,0.63,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(48,1,'a02a72a0da3e82909971256007c85dce','wish-50',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492624000,1793492624500,'succeeded',NULL,0.64,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(49,1,'ce73f7bff54d973805eea70f69088362','wish-51',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492625000,1793492625500,'diverged',NULL,NULL,'nan',NULL,NULL);
INSERT INTO "attempts" VALUES(54,1,'291f167df94acdc90d44bb95f655e3b6','wish-52',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492626000,1793492626500,'succeeded',NULL,0.5,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(55,1,'1d6dcb425180d1953309f0c64e0fa52a','wish-53',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492627000,1793492627500,'succeeded',NULL,0.51,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(56,1,'578bb6b311091207b7b52be7d2db9b86','wish-54',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492628000,1793492628500,'succeeded',NULL,0.52,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(57,1,'8d270d35bf6518a4b428c70aa10b3eff','wish-55',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492629000,1793492629500,'diverged',NULL,NULL,'nan',NULL,NULL);
INSERT INTO "attempts" VALUES(58,1,'edb3c6608193945c3e4ce08bb064b5d3','wish-56',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492630000,1793492630500,'succeeded',NULL,0.54,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(59,1,'6383e96701cb6ba3c8db0fae1662596c','wish-57',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492631000,1793492631500,'succeeded',NULL,0.55,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(60,1,'73d2997f82ec88ff8a4da77f3b9b93a2','wish-58',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492632000,1793492632500,'succeeded',NULL,0.56,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(61,1,'a2ad185779caa1b468c16af6bbf03dbf','wish-59',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492633000,1793492633500,'diverged',NULL,NULL,'nan',NULL,NULL);
INSERT INTO "attempts" VALUES(66,1,'5903c3417a1f439afb23bfc8e269e927','wish-60',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492634000,1793492634500,'succeeded',NULL,0.58,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(67,1,'7de9fc10f73fc9cc212cab157d2a3b84','wish-61',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492635000,1793492635500,'succeeded',NULL,0.59,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(68,1,'02bae903d62f47c21c6a0dd820bcd672','wish-62',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492636000,1793492636500,'succeeded',NULL,0.6,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(70,1,'7f0ef6f720f30e5ff4a8478139fed961','wish-63',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492637000,1793492637500,'succeeded',NULL,0.5,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(71,1,'2ab01bce448a9b847b3802c2b1eca299','wish-64',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492638000,1793492638500,'succeeded',NULL,0.51,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(72,1,'f00a1189e206b1e6c6c83e99d29af76a','wish-65',0,'anonymous','node-1','monday','',0,'1.0','{}',1,2,1,NULL,1793492639000,1793492639500,'succeeded',NULL,0.52,NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(73,1,'ab2330a83513a0e23dc60f00a27da1bd','wish-66',0,'anonymous','node-1','monday','',0,'1.0','{}',5,6,1,NULL,1793492640750,1793492641250,'succeeded',NULL,0.4,NULL,NULL,NULL);
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
CREATE TABLE comparisons (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	project_id INTEGER NOT NULL, 
	name VARCHAR(50) NOT NULL, 
	submitted JSON NOT NULL, 
	spec JSON NOT NULL, 
	state VARCHAR(20) NOT NULL, 
	around INTEGER NOT NULL, 
	priority INTEGER NOT NULL, 
	tags JSON NOT NULL, 
	notes TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	completed_at BIGINT, 
	archived_at BIGINT, 
	CONSTRAINT comparisons_project_id_name_unique UNIQUE (project_id, name), 
	CONSTRAINT comparisons_project_id_fk FOREIGN KEY(project_id) REFERENCES projects (id)
);
INSERT INTO "comparisons" VALUES(1,1,'extended','{"name":"extended","task":"train","space":{"x":{"type":"float","low":0.0,"high":1.0}},"strategy":"random","arms":[{"label":"sgd","settings":{"rule":"sgd"}},{"label":"kfac","settings":{"rule":"kfac"}}],"budget":{"trials":2},"replicates":2,"confirm":{"seeds":2},"seed":1,"tags":["fair"]}','{"name":"extended","task":"train","space":{"x":{"type":"float","low":0.0,"high":1.0}},"strategy":"random","arms":[{"label":"sgd","settings":{"rule":"sgd"}},{"label":"kfac","settings":{"rule":"kfac"}}],"budget":{"trials":3},"replicates":2,"confirm":{"seeds":2},"seed":1,"tags":["fair"]}','active',2,10,'["fair"]','',1793492608750,NULL,NULL);
INSERT INTO "comparisons" VALUES(2,1,'confirming','{"name":"confirming","task":"train","space":{"x":{"type":"float","low":0.0,"high":1.0}},"strategy":"random","arms":[{"label":"sgd","settings":{"rule":"sgd"}},{"label":"kfac","settings":{"rule":"kfac"}}],"budget":{"trials":2},"replicates":2,"confirm":{"seeds":2},"seed":1,"tags":["fair"]}','{"name":"confirming","task":"train","space":{"x":{"type":"float","low":0.0,"high":1.0}},"strategy":"random","arms":[{"label":"sgd","settings":{"rule":"sgd"}},{"label":"kfac","settings":{"rule":"kfac"}}],"budget":{"trials":2},"replicates":2,"confirm":{"seeds":2},"seed":1,"tags":["fair"]}','active',1,10,'["fair"]','',1793492609000,NULL,NULL);
INSERT INTO "comparisons" VALUES(3,1,'searching','{"name":"searching","task":"train","space":{"x":{"type":"float","low":0.0,"high":1.0}},"strategy":"random","arms":[{"label":"sgd","settings":{"rule":"sgd"}},{"label":"kfac","settings":{"rule":"kfac"}}],"budget":{"trials":2},"replicates":2,"confirm":{"seeds":2},"seed":1,"tags":["fair"]}','{"name":"searching","task":"train","space":{"x":{"type":"float","low":0.0,"high":1.0}},"strategy":"random","arms":[{"label":"sgd","settings":{"rule":"sgd"}},{"label":"kfac","settings":{"rule":"kfac"}}],"budget":{"trials":2},"replicates":2,"confirm":{"seeds":2},"seed":1,"tags":["fair"]}','paused',1,10,'["fair"]','',1793492609250,NULL,NULL);
INSERT INTO "comparisons" VALUES(4,1,'away','{"name":"away","task":"train","space":{"x":{"type":"float","low":0.0,"high":1.0}},"strategy":"random","arms":[{"label":"sgd","settings":{"rule":"sgd"}},{"label":"kfac","settings":{"rule":"kfac"}}],"budget":{"trials":2},"replicates":2,"confirm":{"seeds":2},"seed":1,"tags":["fair"]}','{"name":"away","task":"train","space":{"x":{"type":"float","low":0.0,"high":1.0}},"strategy":"random","arms":[{"label":"sgd","settings":{"rule":"sgd"}},{"label":"kfac","settings":{"rule":"kfac"}}],"budget":{"trials":2},"replicates":2,"confirm":{"seeds":2},"seed":1,"tags":["fair"]}','stopped',1,10,'["fair"]','',1793492609500,NULL,1793492640250);
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
INSERT INTO "events" VALUES(12,2,1793492614000,'anonymous','trial.created',0,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(12,3,1793492614000,'anonymous','trial.moved',0,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(12,4,1793492614500,'anonymous','trial.moved',0,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(12,5,1793492615000,'anonymous','trial.created',1,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(12,6,1793492615000,'anonymous','trial.moved',1,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(12,7,1793492615500,'anonymous','trial.moved',1,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(12,8,1793492615500,'anonymous','study.completed',NULL,NULL,NULL,NULL,NULL,'{"state":"completed","reason":"max_trials"}');
INSERT INTO "events" VALUES(12,9,1793492639750,'anonymous','study.changed',NULL,NULL,NULL,NULL,NULL,'{"max_trials":3,"state":"active","reason":null}');
INSERT INTO "events" VALUES(13,1,1793492608750,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(13,2,1793492610000,'anonymous','trial.created',0,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(13,3,1793492610000,'anonymous','trial.moved',0,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(13,4,1793492610500,'anonymous','trial.moved',0,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(13,5,1793492611000,'anonymous','trial.created',1,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(13,6,1793492611000,'anonymous','trial.moved',1,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(13,7,1793492611500,'anonymous','trial.moved',1,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(13,8,1793492611500,'anonymous','study.completed',NULL,NULL,NULL,NULL,NULL,'{"state":"completed","reason":"max_trials"}');
INSERT INTO "events" VALUES(13,9,1793492639750,'anonymous','study.changed',NULL,NULL,NULL,NULL,NULL,'{"max_trials":3,"state":"active","reason":null}');
INSERT INTO "events" VALUES(14,1,1793492608750,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(14,2,1793492616000,'anonymous','trial.created',0,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(14,3,1793492616000,'anonymous','trial.moved',0,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(14,4,1793492616500,'anonymous','trial.moved',0,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(14,5,1793492617000,'anonymous','trial.created',1,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(14,6,1793492617000,'anonymous','trial.moved',1,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(14,7,1793492617500,'anonymous','trial.moved',1,1,'running','diverged',NULL,NULL);
INSERT INTO "events" VALUES(14,8,1793492617500,'anonymous','study.completed',NULL,NULL,NULL,NULL,NULL,'{"state":"completed","reason":"max_trials"}');
INSERT INTO "events" VALUES(14,9,1793492639750,'anonymous','study.changed',NULL,NULL,NULL,NULL,NULL,'{"max_trials":3,"state":"active","reason":null}');
INSERT INTO "events" VALUES(15,1,1793492608750,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(15,2,1793492612000,'anonymous','trial.created',0,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(15,3,1793492612000,'anonymous','trial.moved',0,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(15,4,1793492612500,'anonymous','trial.moved',0,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(15,5,1793492613000,'anonymous','trial.created',1,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(15,6,1793492613000,'anonymous','trial.moved',1,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(15,7,1793492613500,'anonymous','trial.moved',1,1,'running','diverged',NULL,NULL);
INSERT INTO "events" VALUES(15,8,1793492613500,'anonymous','study.completed',NULL,NULL,NULL,NULL,NULL,'{"state":"completed","reason":"max_trials"}');
INSERT INTO "events" VALUES(15,9,1793492639750,'anonymous','study.changed',NULL,NULL,NULL,NULL,NULL,'{"max_trials":3,"state":"active","reason":null}');
INSERT INTO "events" VALUES(16,1,1793492609000,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(16,2,1793492630000,'anonymous','trial.created',0,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(16,3,1793492630000,'anonymous','trial.moved',0,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(16,4,1793492630500,'anonymous','trial.moved',0,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(16,5,1793492631000,'anonymous','trial.created',1,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(16,6,1793492631000,'anonymous','trial.moved',1,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(16,7,1793492631500,'anonymous','trial.moved',1,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(16,8,1793492631500,'anonymous','study.completed',NULL,NULL,NULL,NULL,NULL,'{"state":"completed","reason":"max_trials"}');
INSERT INTO "events" VALUES(17,1,1793492609000,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(17,2,1793492626000,'anonymous','trial.created',0,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(17,3,1793492626000,'anonymous','trial.moved',0,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(17,4,1793492626500,'anonymous','trial.moved',0,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(17,5,1793492627000,'anonymous','trial.created',1,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(17,6,1793492627000,'anonymous','trial.moved',1,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(17,7,1793492627500,'anonymous','trial.moved',1,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(17,8,1793492627500,'anonymous','study.completed',NULL,NULL,NULL,NULL,NULL,'{"state":"completed","reason":"max_trials"}');
INSERT INTO "events" VALUES(18,1,1793492609000,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(18,2,1793492632000,'anonymous','trial.created',0,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(18,3,1793492632000,'anonymous','trial.moved',0,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(18,4,1793492632500,'anonymous','trial.moved',0,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(18,5,1793492633000,'anonymous','trial.created',1,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(18,6,1793492633000,'anonymous','trial.moved',1,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(18,7,1793492633500,'anonymous','trial.moved',1,1,'running','diverged',NULL,NULL);
INSERT INTO "events" VALUES(18,8,1793492633500,'anonymous','study.completed',NULL,NULL,NULL,NULL,NULL,'{"state":"completed","reason":"max_trials"}');
INSERT INTO "events" VALUES(19,1,1793492609000,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(19,2,1793492628000,'anonymous','trial.created',0,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(19,3,1793492628000,'anonymous','trial.moved',0,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(19,4,1793492628500,'anonymous','trial.moved',0,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(19,5,1793492629000,'anonymous','trial.created',1,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(19,6,1793492629000,'anonymous','trial.moved',1,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(19,7,1793492629500,'anonymous','trial.moved',1,1,'running','diverged',NULL,NULL);
INSERT INTO "events" VALUES(19,8,1793492629500,'anonymous','study.completed',NULL,NULL,NULL,NULL,NULL,'{"state":"completed","reason":"max_trials"}');
INSERT INTO "events" VALUES(20,1,1793492609250,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(20,2,1793492640000,'anonymous','study.changed',NULL,NULL,NULL,NULL,NULL,'{"state":"paused"}');
INSERT INTO "events" VALUES(21,1,1793492609250,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(21,2,1793492637000,'anonymous','trial.created',0,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(21,3,1793492637000,'anonymous','trial.moved',0,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(21,4,1793492637500,'anonymous','trial.moved',0,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(21,5,1793492638000,'anonymous','trial.created',1,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(21,6,1793492638000,'anonymous','trial.moved',1,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(21,7,1793492638500,'anonymous','trial.moved',1,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(21,8,1793492638500,'anonymous','study.completed',NULL,NULL,NULL,NULL,NULL,'{"state":"completed","reason":"max_trials"}');
INSERT INTO "events" VALUES(22,1,1793492609250,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(22,2,1793492640000,'anonymous','study.changed',NULL,NULL,NULL,NULL,NULL,'{"state":"paused"}');
INSERT INTO "events" VALUES(23,1,1793492609250,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(23,2,1793492639000,'anonymous','trial.created',0,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(23,3,1793492639000,'anonymous','trial.moved',0,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(23,4,1793492639500,'anonymous','trial.moved',0,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(23,5,1793492640000,'anonymous','study.changed',NULL,NULL,NULL,NULL,NULL,'{"state":"paused"}');
INSERT INTO "events" VALUES(24,1,1793492609500,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(24,2,1793492640250,'anonymous','study.archived',NULL,NULL,NULL,NULL,NULL,'{"state":"stopped"}');
INSERT INTO "events" VALUES(25,1,1793492609500,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(25,2,1793492640250,'anonymous','study.archived',NULL,NULL,NULL,NULL,NULL,'{"state":"stopped"}');
INSERT INTO "events" VALUES(26,1,1793492609500,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(26,2,1793492640250,'anonymous','study.archived',NULL,NULL,NULL,NULL,NULL,'{"state":"stopped"}');
INSERT INTO "events" VALUES(27,1,1793492609500,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(27,2,1793492640250,'anonymous','study.archived',NULL,NULL,NULL,NULL,NULL,'{"state":"stopped"}');
INSERT INTO "events" VALUES(28,1,1793492617500,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(28,2,1793492617500,'anonymous','trial.created',0,NULL,NULL,'queued',NULL,'{"origin":"enqueued"}');
INSERT INTO "events" VALUES(28,3,1793492617500,'anonymous','trial.created',1,NULL,NULL,'queued',NULL,'{"origin":"enqueued"}');
INSERT INTO "events" VALUES(28,4,1793492617500,'anonymous','trial.created',2,NULL,NULL,'queued',NULL,'{"origin":"enqueued"}');
INSERT INTO "events" VALUES(28,5,1793492617500,'anonymous','trial.created',3,NULL,NULL,'queued',NULL,'{"origin":"enqueued"}');
INSERT INTO "events" VALUES(28,6,1793492622000,'anonymous','trial.moved',0,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(28,7,1793492622500,'anonymous','trial.moved',0,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(28,8,1793492623000,'anonymous','trial.moved',1,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(28,9,1793492623500,'anonymous','trial.moved',1,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(28,10,1793492624000,'anonymous','trial.moved',2,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(28,11,1793492624500,'anonymous','trial.moved',2,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(28,12,1793492625000,'anonymous','trial.moved',3,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(28,13,1793492625500,'anonymous','trial.moved',3,1,'running','diverged',NULL,NULL);
INSERT INTO "events" VALUES(28,14,1793492625500,'anonymous','study.completed',NULL,NULL,NULL,NULL,NULL,'{"state":"completed","reason":"max_trials"}');
INSERT INTO "events" VALUES(29,1,1793492617500,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(29,2,1793492617500,'anonymous','trial.created',0,NULL,NULL,'queued',NULL,'{"origin":"enqueued"}');
INSERT INTO "events" VALUES(29,3,1793492617500,'anonymous','trial.created',1,NULL,NULL,'queued',NULL,'{"origin":"enqueued"}');
INSERT INTO "events" VALUES(29,4,1793492617500,'anonymous','trial.created',2,NULL,NULL,'queued',NULL,'{"origin":"enqueued"}');
INSERT INTO "events" VALUES(29,5,1793492617500,'anonymous','trial.created',3,NULL,NULL,'queued',NULL,'{"origin":"enqueued"}');
INSERT INTO "events" VALUES(29,6,1793492618000,'anonymous','trial.moved',0,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(29,7,1793492618500,'anonymous','trial.moved',0,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(29,8,1793492619000,'anonymous','trial.moved',1,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(29,9,1793492619500,'anonymous','trial.moved',1,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(29,10,1793492620000,'anonymous','trial.moved',2,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(29,11,1793492620500,'anonymous','trial.moved',2,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(29,12,1793492621000,'anonymous','trial.moved',3,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(29,13,1793492621500,'anonymous','trial.moved',3,1,'running','diverged',NULL,NULL);
INSERT INTO "events" VALUES(29,14,1793492621500,'anonymous','study.completed',NULL,NULL,NULL,NULL,NULL,'{"state":"completed","reason":"max_trials"}');
INSERT INTO "events" VALUES(30,1,1793492633500,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(30,2,1793492633500,'anonymous','trial.created',0,NULL,NULL,'queued',NULL,'{"origin":"enqueued"}');
INSERT INTO "events" VALUES(30,3,1793492633500,'anonymous','trial.created',1,NULL,NULL,'queued',NULL,'{"origin":"enqueued"}');
INSERT INTO "events" VALUES(30,4,1793492633500,'anonymous','trial.created',2,NULL,NULL,'queued',NULL,'{"origin":"enqueued"}');
INSERT INTO "events" VALUES(30,5,1793492633500,'anonymous','trial.created',3,NULL,NULL,'queued',NULL,'{"origin":"enqueued"}');
INSERT INTO "events" VALUES(31,1,1793492633500,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(31,2,1793492633500,'anonymous','trial.created',0,NULL,NULL,'queued',NULL,'{"origin":"enqueued"}');
INSERT INTO "events" VALUES(31,3,1793492633500,'anonymous','trial.created',1,NULL,NULL,'queued',NULL,'{"origin":"enqueued"}');
INSERT INTO "events" VALUES(31,4,1793492633500,'anonymous','trial.created',2,NULL,NULL,'queued',NULL,'{"origin":"enqueued"}');
INSERT INTO "events" VALUES(31,5,1793492633500,'anonymous','trial.created',3,NULL,NULL,'queued',NULL,'{"origin":"enqueued"}');
INSERT INTO "events" VALUES(31,6,1793492634000,'anonymous','trial.moved',0,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(31,7,1793492634500,'anonymous','trial.moved',0,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(31,8,1793492635000,'anonymous','trial.moved',1,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(31,9,1793492635500,'anonymous','trial.moved',1,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(31,10,1793492636000,'anonymous','trial.moved',2,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(31,11,1793492636500,'anonymous','trial.moved',2,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(32,1,1793492640500,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(32,2,1793492640750,'anonymous','trial.created',0,NULL,NULL,'queued',NULL,'{"origin":"proposed"}');
INSERT INTO "events" VALUES(32,3,1793492640750,'anonymous','trial.moved',0,1,'queued','running',NULL,NULL);
INSERT INTO "events" VALUES(32,4,1793492641250,'anonymous','trial.moved',0,1,'running','succeeded',NULL,NULL);
INSERT INTO "events" VALUES(32,5,1793492641250,'anonymous','study.completed',NULL,NULL,NULL,NULL,NULL,'{"state":"completed","reason":"max_updates"}');
INSERT INTO "events" VALUES(33,1,1793492641500,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(33,2,1793492641750,'anonymous','trial.created',0,NULL,NULL,'diverged',NULL,'{"origin":"imported"}');
INSERT INTO "events" VALUES(33,3,1793492641750,'anonymous','trial.created',1,NULL,NULL,'failed',NULL,'{"origin":"imported"}');
INSERT INTO "events" VALUES(33,4,1793492641750,'anonymous','trial.created',2,NULL,NULL,'pruned',NULL,'{"origin":"imported"}');
INSERT INTO "events" VALUES(33,5,1793492642250,'anonymous','trial.created',3,NULL,NULL,'diverged',NULL,'{"origin":"imported"}');
INSERT INTO "events" VALUES(34,1,1793492644000,'anonymous','study.created',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO "events" VALUES(34,2,1793492644250,'anonymous','trial.created',0,NULL,NULL,'diverged',NULL,'{"origin":"imported"}');
INSERT INTO "events" VALUES(34,3,1793492644250,'anonymous','trial.created',1,NULL,NULL,'failed',NULL,'{"origin":"imported"}');
INSERT INTO "events" VALUES(34,4,1793492644250,'anonymous','trial.created',2,NULL,NULL,'pruned',NULL,'{"origin":"imported"}');
INSERT INTO "events" VALUES(34,5,1793492644750,'anonymous','trial.created',3,NULL,NULL,'diverged',NULL,'{"origin":"imported"}');
INSERT INTO "events" VALUES(34,6,1793492645250,'anonymous','study.archived',NULL,NULL,NULL,NULL,NULL,'{"state":"stopped"}');
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
INSERT INTO "observations" VALUES(12,1,0,1,'succeeded',0.54,NULL);
INSERT INTO "observations" VALUES(12,2,1,1,'succeeded',0.55,NULL);
INSERT INTO "observations" VALUES(13,1,0,1,'succeeded',0.5,NULL);
INSERT INTO "observations" VALUES(13,2,1,1,'succeeded',0.51,NULL);
INSERT INTO "observations" VALUES(14,1,0,1,'succeeded',0.56,NULL);
INSERT INTO "observations" VALUES(14,2,1,1,'diverged',NULL,NULL);
INSERT INTO "observations" VALUES(15,1,0,1,'succeeded',0.52,NULL);
INSERT INTO "observations" VALUES(15,2,1,1,'diverged',NULL,NULL);
INSERT INTO "observations" VALUES(16,1,0,1,'succeeded',0.54,NULL);
INSERT INTO "observations" VALUES(16,2,1,1,'succeeded',0.55,NULL);
INSERT INTO "observations" VALUES(17,1,0,1,'succeeded',0.5,NULL);
INSERT INTO "observations" VALUES(17,2,1,1,'succeeded',0.51,NULL);
INSERT INTO "observations" VALUES(18,1,0,1,'succeeded',0.56,NULL);
INSERT INTO "observations" VALUES(18,2,1,1,'diverged',NULL,NULL);
INSERT INTO "observations" VALUES(19,1,0,1,'succeeded',0.52,NULL);
INSERT INTO "observations" VALUES(19,2,1,1,'diverged',NULL,NULL);
INSERT INTO "observations" VALUES(21,1,0,1,'succeeded',0.5,NULL);
INSERT INTO "observations" VALUES(21,2,1,1,'succeeded',0.51,NULL);
INSERT INTO "observations" VALUES(23,1,0,1,'succeeded',0.52,NULL);
INSERT INTO "observations" VALUES(28,1,0,1,'succeeded',0.62,NULL);
INSERT INTO "observations" VALUES(28,2,1,1,'succeeded',0.63,NULL);
INSERT INTO "observations" VALUES(28,3,2,1,'succeeded',0.64,NULL);
INSERT INTO "observations" VALUES(28,4,3,1,'diverged',NULL,NULL);
INSERT INTO "observations" VALUES(29,1,0,1,'succeeded',0.58,NULL);
INSERT INTO "observations" VALUES(29,2,1,1,'succeeded',0.59,NULL);
INSERT INTO "observations" VALUES(29,3,2,1,'succeeded',0.6,NULL);
INSERT INTO "observations" VALUES(29,4,3,1,'diverged',NULL,NULL);
INSERT INTO "observations" VALUES(31,1,0,1,'succeeded',0.58,NULL);
INSERT INTO "observations" VALUES(31,2,1,1,'succeeded',0.59,NULL);
INSERT INTO "observations" VALUES(31,3,2,1,'succeeded',0.6,NULL);
INSERT INTO "observations" VALUES(32,1,0,1,'succeeded',0.4,NULL);
INSERT INTO "observations" VALUES(33,1,0,0,'diverged',NULL,NULL);
INSERT INTO "observations" VALUES(33,2,1,0,'failed',NULL,NULL);
INSERT INTO "observations" VALUES(33,3,2,0,'pruned',NULL,NULL);
INSERT INTO "observations" VALUES(33,4,3,0,'diverged',NULL,NULL);
INSERT INTO "observations" VALUES(34,1,0,0,'diverged',NULL,NULL);
INSERT INTO "observations" VALUES(34,2,1,0,'failed',NULL,NULL);
INSERT INTO "observations" VALUES(34,3,2,0,'pruned',NULL,NULL);
INSERT INTO "observations" VALUES(34,4,3,0,'diverged',NULL,NULL);
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
INSERT INTO "optuna_studies" VALUES(1,1,'theirs','["minimize"]',6,8,23,1793492641500);
INSERT INTO "optuna_studies" VALUES(2,1,'two','["minimize","maximize"]',6,8,23,1793492642750);
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
INSERT INTO "optuna_trials" VALUES(1,1,0,8,'complete','["Infinity"]',1793492641750000,1793492642250000,NULL,217,3);
INSERT INTO "optuna_trials" VALUES(2,1,1,2,'running',NULL,1793492641750000,NULL,1793492642500,0,0);
INSERT INTO "optuna_trials" VALUES(3,1,2,3,'complete','["Infinity"]',1793491200123456,1793491201000000,NULL,217,3);
INSERT INTO "optuna_trials" VALUES(4,1,3,4,'waiting',NULL,NULL,NULL,NULL,0,0);
INSERT INTO "optuna_trials" VALUES(5,1,4,5,'fail',NULL,1793492641750000,1793492641750000,NULL,0,0);
INSERT INTO "optuna_trials" VALUES(6,1,5,6,'pruned',NULL,1793492641750000,1793492641750000,NULL,0,0);
INSERT INTO "optuna_trials" VALUES(7,2,0,8,'complete','["Infinity",0.25]',1793492643000000,1793492643500000,NULL,217,3);
INSERT INTO "optuna_trials" VALUES(8,2,1,2,'running',NULL,1793492643000000,NULL,1793492643750,0,0);
INSERT INTO "optuna_trials" VALUES(9,2,2,3,'complete','["Infinity",0.25]',1793491200123456,1793491201000000,NULL,217,3);
INSERT INTO "optuna_trials" VALUES(10,2,3,4,'waiting',NULL,NULL,NULL,NULL,0,0);
INSERT INTO "optuna_trials" VALUES(11,2,4,5,'fail',NULL,1793492643000000,1793492643000000,NULL,0,0);
INSERT INTO "optuna_trials" VALUES(12,2,5,6,'pruned',NULL,1793492643000000,1793492643000000,NULL,0,0);
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
INSERT INTO "reports" VALUES(38,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.5}}]');
INSERT INTO "reports" VALUES(39,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.51}}]');
INSERT INTO "reports" VALUES(40,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.52}}]');
INSERT INTO "reports" VALUES(41,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.53}}]');
INSERT INTO "reports" VALUES(42,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.54}}]');
INSERT INTO "reports" VALUES(43,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.55}}]');
INSERT INTO "reports" VALUES(44,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.56}}]');
INSERT INTO "reports" VALUES(45,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.5700000000000001}}]');
INSERT INTO "reports" VALUES(50,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.58}}]');
INSERT INTO "reports" VALUES(51,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.59}}]');
INSERT INTO "reports" VALUES(52,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.6}}]');
INSERT INTO "reports" VALUES(53,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.61}}]');
INSERT INTO "reports" VALUES(46,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.62}}]');
INSERT INTO "reports" VALUES(47,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.63}}]');
INSERT INTO "reports" VALUES(48,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.64}}]');
INSERT INTO "reports" VALUES(49,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.65}}]');
INSERT INTO "reports" VALUES(54,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.5}}]');
INSERT INTO "reports" VALUES(55,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.51}}]');
INSERT INTO "reports" VALUES(56,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.52}}]');
INSERT INTO "reports" VALUES(57,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.53}}]');
INSERT INTO "reports" VALUES(58,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.54}}]');
INSERT INTO "reports" VALUES(59,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.55}}]');
INSERT INTO "reports" VALUES(60,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.56}}]');
INSERT INTO "reports" VALUES(61,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.5700000000000001}}]');
INSERT INTO "reports" VALUES(66,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.58}}]');
INSERT INTO "reports" VALUES(67,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.59}}]');
INSERT INTO "reports" VALUES(68,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.6}}]');
INSERT INTO "reports" VALUES(70,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.5}}]');
INSERT INTO "reports" VALUES(71,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.51}}]');
INSERT INTO "reports" VALUES(72,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.52}}]');
INSERT INTO "reports" VALUES(73,1,0,'[{"step":0,"metrics":{"loss":0.9}},{"step":1,"metrics":{"loss":0.8}},{"step":2,"metrics":{"loss":0.7}},{"step":3,"metrics":{"loss":0.6}},{"step":4,"metrics":{"loss":0.5}},{"step":5,"metrics":{"loss":0.4}}]');
CREATE TABLE schema_range (
	id INTEGER NOT NULL, 
	oldest VARCHAR(32) NOT NULL, 
	CONSTRAINT schema_range_pk PRIMARY KEY (id), 
	CONSTRAINT schema_range_single_row_check CHECK (id = 1)
);
INSERT INTO "schema_range" VALUES(1,'0008');
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
	max_updates BIGINT, 
	max_seconds FLOAT, 
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
	updates BIGINT DEFAULT '0' NOT NULL, 
	trained_milliseconds BIGINT DEFAULT '0' NOT NULL, 
	submitted JSON DEFAULT '{}' NOT NULL, 
	created_at BIGINT NOT NULL, 
	completed_at BIGINT, 
	archived_at BIGINT, 
	mirrors BIGINT, 
	comparison_id BIGINT, 
	arm VARCHAR(40), 
	replicate INTEGER, 
	around INTEGER, 
	confirms JSON, 
	CONSTRAINT studies_project_id_name_unique UNIQUE (project_id, name), 
	CONSTRAINT studies_project_id_fk FOREIGN KEY(project_id) REFERENCES projects (id)
);
INSERT INTO "studies" VALUES(1,1,'search','train','{"lr":{"type":"float","low":0.0001,"high":1.0,"log":true},"width":{"type":"int","low":8,"high":64,"step":8},"rule":{"type":"categorical","choices":["sgd","kfac"]},"size":{"type":"ordinal","choices":["narrow","middle","wide"]},"nesterov":{"type":"boolean","when":{"rule":["sgd"]}}}',0,'biased_random','{"version":1,"acceptance":{"name":"sharpening_rank","trials":10.0},"neighbours":1,"initial":8,"explore":0.02,"local":0.8,"pending":"ignore"}','minimize',1,60,NULL,2,NULL,NULL,NULL,NULL,NULL,'{"rule":"median","metric":"loss","percentile":50.0,"warm_up":0.0,"min_curves":2}','["error","out_of_memory","stalled","lost"]',1,'forbid',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','active',NULL,10,1.70000000000000039968e+00,'["baseline"]','The first one; it''s "quoted".','{"owner":"ann"}',16,16,11,2,51,0,0,1,1,8,2,1,2,1,0,0,9,125000,'{"max_trials":60}',1793491203750,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "studies" VALUES(2,1,'paused','train','{"x":{"type":"float","low":0.0,"high":1.0}}',0,'biased_random','{"version":1,"acceptance":{"name":"linear"},"neighbours":1,"initial":1,"explore":0.0,"local":0.0,"pending":"ignore"}','minimize',1,20,NULL,3,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','paused',NULL,20,7.50000000000000444089e-01,'[]','','{}',2,1,1,0,6,0,0,1,0,1,0,0,0,0,0,0,0,250,'{"max_trials":20}',1793491395500,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "studies" VALUES(3,1,'finished','train','{"x":{"type":"float","low":0.0,"high":1.0}}',0,'random','{"version":1}','minimize',1,2,NULL,3,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','completed','max_trials',10,9.00000000000000355271e-01,'[]','','{}',2,2,2,0,8,0,0,0,0,2,0,0,0,0,0,0,0,500,'{"max_trials":2}',1793491396750,1793491397750,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "studies" VALUES(4,1,'exhausted','train','{"a":{"type":"boolean"},"b":{"type":"boolean"}}',0,'grid','{"version":1,"levels":20,"order":"row_major"}','minimize',1,20,NULL,3,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','active',NULL,10,1.1000000000000005329e+00,'[]','','{}',4,4,4,0,13,0,0,0,0,4,0,0,0,0,0,0,0,1000,'{"max_trials":20}',1793491398000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "studies" VALUES(5,1,'stopped','train','{"x":{"type":"float","low":0.0,"high":1.0}}',0,'quasi_random','{"version":1}','minimize',1,20,NULL,3,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','stopped',NULL,10,8.00000000000000377475e-01,'[]','','{}',1,0,1,0,4,0,0,0,1,0,0,0,0,0,0,0,0,0,'{"max_trials":20}',1793491400250,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "studies" VALUES(6,1,'reached','train','{"x":{"type":"float","low":0.0,"high":1.0}}',0,'biased_random','{"version":1,"acceptance":{"name":"sharpening_rank","trials":10.0},"neighbours":1,"initial":8,"explore":0.02,"local":0.8,"pending":"ignore"}','maximize',1,20,NULL,3,NULL,NULL,NULL,NULL,-0.9,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','completed','target',10,9.00000000000000355271e-01,'[]','','{}',2,2,2,0,8,0,0,0,0,2,0,0,0,0,0,0,0,500,'{"max_trials":20,"target":-0.9}',1793491401000,1793491402000,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "studies" VALUES(7,1,'memoised','train','{"x":{"type":"float","low":0.0,"high":1.0}}',0,'biased_random','{"version":1,"acceptance":{"name":"sharpening_rank","trials":10.0},"neighbours":1,"initial":8,"explore":0.02,"local":0.8,"pending":"ignore"}','minimize',1,20,NULL,3,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',0,'memoise',0,NULL,'{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','active',NULL,10,0.0,'[]','','{}',2,2,0,1,3,0,0,0,0,2,0,0,0,0,0,0,0,0,'{"max_trials":20}',1793491402250,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "studies" VALUES(8,1,'archived','train','{"x":{"type":"float","low":0.0,"high":1.0}}',0,'biased_random','{"version":1,"acceptance":{"name":"sharpening_rank","trials":10.0},"neighbours":1,"initial":8,"explore":0.02,"local":0.8,"pending":"ignore"}','minimize',1,20,NULL,3,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','stopped',NULL,10,8.00000000000000377475e-01,'[]','','{}',1,1,1,0,5,0,0,0,0,1,0,0,0,0,0,0,0,250,'{"max_trials":20}',1793491403000,NULL,1793491403750,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "studies" VALUES(10,1,'open','train','"open"',1,'biased_random','{"version":1,"acceptance":{"name":"sharpening_rank","trials":10.0},"neighbours":1,"initial":8,"explore":0.02,"local":0.8,"pending":"ignore"}','minimize',1,20,NULL,1,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','active',NULL,10,1.00000000000000044408e+00,'[]','','{}',4,3,2,1,10,0,0,0,1,2,0,0,1,0,0,0,0,500,'{"max_trials":20}',1793491405000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "studies" VALUES(11,2,'theirs','train','{"x":{"type":"float","low":0.0,"high":1.0}}',0,'biased_random','{"version":1,"acceptance":{"name":"sharpening_rank","trials":10.0},"neighbours":1,"initial":8,"explore":0.02,"local":0.8,"pending":"ignore"}','minimize',1,30,2,3,5.0,NULL,NULL,1924992000000,NULL,NULL,'["lost"]',1,'forbid',0,NULL,'{"gpus":1,"gpu_memory_gb":0.0,"labels":{}}','active',NULL,10,1.00000000000000044408e+00,'["gpu"]','','{}',3,2,3,0,10,0,0,0,1,2,0,0,0,0,1,-1793491407750,0,1200500,'{"max_trials":20,"max_running":2,"max_gpu_hours":5.0,"deadline":1924992000.0}',1793491407000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "studies" VALUES(12,1,'extended.sgd.1','train','{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["sgd"]}}',0,'random','{"version":1}','minimize',7554410117382319,3,1,3,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','active',NULL,10,9.00000000000000355271e-01,'[]','','{}',2,2,2,0,9,0,0,0,0,2,0,0,0,0,0,0,2,1000,'{"max_trials":2,"max_running":1}',1793492608750,1793492615500,NULL,NULL,1,'sgd',1,NULL,NULL);
INSERT INTO "studies" VALUES(13,1,'extended.kfac.1','train','{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["kfac"]}}',0,'random','{"version":1}','minimize',7554410117382319,3,1,3,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','active',NULL,10,9.00000000000000355271e-01,'[]','','{}',2,2,2,0,9,0,0,0,0,2,0,0,0,0,0,0,2,1000,'{"max_trials":2,"max_running":1}',1793492608750,1793492611500,NULL,NULL,1,'kfac',1,NULL,NULL);
INSERT INTO "studies" VALUES(14,1,'extended.sgd.2','train','{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["sgd"]}}',0,'random','{"version":1}','minimize',3632089929981814,3,1,3,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','active',NULL,10,9.00000000000000355271e-01,'[]','','{}',2,2,2,0,9,0,0,0,0,1,1,0,0,0,0,0,2,1000,'{"max_trials":2,"max_running":1}',1793492608750,1793492617500,NULL,NULL,1,'sgd',2,NULL,NULL);
INSERT INTO "studies" VALUES(15,1,'extended.kfac.2','train','{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["kfac"]}}',0,'random','{"version":1}','minimize',3632089929981814,3,1,3,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','active',NULL,10,9.00000000000000355271e-01,'[]','','{}',2,2,2,0,9,0,0,0,0,1,1,0,0,0,0,0,2,1000,'{"max_trials":2,"max_running":1}',1793492608750,1793492613500,NULL,NULL,1,'kfac',2,NULL,NULL);
INSERT INTO "studies" VALUES(16,1,'confirming.sgd.1','train','{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["sgd"]}}',0,'random','{"version":1}','minimize',7554410117382319,2,1,3,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','completed','max_trials',10,9.00000000000000355271e-01,'[]','','{}',2,2,2,0,8,0,0,0,0,2,0,0,0,0,0,0,2,1000,'{"max_trials":2,"max_running":1}',1793492609000,1793492631500,NULL,NULL,2,'sgd',1,NULL,NULL);
INSERT INTO "studies" VALUES(17,1,'confirming.kfac.1','train','{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["kfac"]}}',0,'random','{"version":1}','minimize',7554410117382319,2,1,3,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','completed','max_trials',10,9.00000000000000355271e-01,'[]','','{}',2,2,2,0,8,0,0,0,0,2,0,0,0,0,0,0,2,1000,'{"max_trials":2,"max_running":1}',1793492609000,1793492627500,NULL,NULL,2,'kfac',1,NULL,NULL);
INSERT INTO "studies" VALUES(18,1,'confirming.sgd.2','train','{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["sgd"]}}',0,'random','{"version":1}','minimize',3632089929981814,2,1,3,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','completed','max_trials',10,9.00000000000000355271e-01,'[]','','{}',2,2,2,0,8,0,0,0,0,1,1,0,0,0,0,0,2,1000,'{"max_trials":2,"max_running":1}',1793492609000,1793492633500,NULL,NULL,2,'sgd',2,NULL,NULL);
INSERT INTO "studies" VALUES(19,1,'confirming.kfac.2','train','{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["kfac"]}}',0,'random','{"version":1}','minimize',3632089929981814,2,1,3,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','completed','max_trials',10,9.00000000000000355271e-01,'[]','','{}',2,2,2,0,8,0,0,0,0,1,1,0,0,0,0,0,2,1000,'{"max_trials":2,"max_running":1}',1793492609000,1793492629500,NULL,NULL,2,'kfac',2,NULL,NULL);
INSERT INTO "studies" VALUES(20,1,'searching.sgd.1','train','{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["sgd"]}}',0,'random','{"version":1}','minimize',7554410117382319,2,1,3,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,NULL,'{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','paused',NULL,10,0.0,'[]','','{}',0,0,0,0,2,0,0,0,0,0,0,0,0,0,0,0,0,0,'{"max_trials":2,"max_running":1}',1793492609250,NULL,NULL,NULL,3,'sgd',1,NULL,NULL);
INSERT INTO "studies" VALUES(21,1,'searching.kfac.1','train','{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["kfac"]}}',0,'random','{"version":1}','minimize',7554410117382319,2,1,3,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','completed','max_trials',10,9.00000000000000355271e-01,'[]','','{}',2,2,2,0,8,0,0,0,0,2,0,0,0,0,0,0,2,1000,'{"max_trials":2,"max_running":1}',1793492609250,1793492638500,NULL,NULL,3,'kfac',1,NULL,NULL);
INSERT INTO "studies" VALUES(22,1,'searching.sgd.2','train','{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["sgd"]}}',0,'random','{"version":1}','minimize',3632089929981814,2,1,3,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,NULL,'{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','paused',NULL,10,0.0,'[]','','{}',0,0,0,0,2,0,0,0,0,0,0,0,0,0,0,0,0,0,'{"max_trials":2,"max_running":1}',1793492609250,NULL,NULL,NULL,3,'sgd',2,NULL,NULL);
INSERT INTO "studies" VALUES(23,1,'searching.kfac.2','train','{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["kfac"]}}',0,'random','{"version":1}','minimize',3632089929981814,2,1,3,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','paused',NULL,10,8.00000000000000377475e-01,'[]','','{}',1,1,1,0,5,0,0,0,0,1,0,0,0,0,0,0,1,500,'{"max_trials":2,"max_running":1}',1793492609250,NULL,NULL,NULL,3,'kfac',2,NULL,NULL);
INSERT INTO "studies" VALUES(24,1,'away.sgd.1','train','{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["sgd"]}}',0,'random','{"version":1}','minimize',7554410117382319,2,1,3,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,NULL,'{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','stopped',NULL,10,0.0,'[]','','{}',0,0,0,0,2,0,0,0,0,0,0,0,0,0,0,0,0,0,'{"max_trials":2,"max_running":1}',1793492609500,NULL,1793492640250,NULL,4,'sgd',1,NULL,NULL);
INSERT INTO "studies" VALUES(25,1,'away.kfac.1','train','{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["kfac"]}}',0,'random','{"version":1}','minimize',7554410117382319,2,1,3,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,NULL,'{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','stopped',NULL,10,0.0,'[]','','{}',0,0,0,0,2,0,0,0,0,0,0,0,0,0,0,0,0,0,'{"max_trials":2,"max_running":1}',1793492609500,NULL,1793492640250,NULL,4,'kfac',1,NULL,NULL);
INSERT INTO "studies" VALUES(26,1,'away.sgd.2','train','{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["sgd"]}}',0,'random','{"version":1}','minimize',3632089929981814,2,1,3,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,NULL,'{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','stopped',NULL,10,0.0,'[]','','{}',0,0,0,0,2,0,0,0,0,0,0,0,0,0,0,0,0,0,'{"max_trials":2,"max_running":1}',1793492609500,NULL,1793492640250,NULL,4,'sgd',2,NULL,NULL);
INSERT INTO "studies" VALUES(27,1,'away.kfac.2','train','{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["kfac"]}}',0,'random','{"version":1}','minimize',3632089929981814,2,1,3,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,NULL,'{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','stopped',NULL,10,0.0,'[]','','{}',0,0,0,0,2,0,0,0,0,0,0,0,0,0,0,0,0,0,'{"max_trials":2,"max_running":1}',1793492609500,NULL,1793492640250,NULL,4,'kfac',2,NULL,NULL);
INSERT INTO "studies" VALUES(28,1,'extended.sgd.confirm','train','{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["sgd"]}}',0,'random','{"version":1}','minimize',8798485704595656,4,NULL,3,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'allow',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','completed','max_trials',10,1.1000000000000005329e+00,'[]','','{}',4,4,0,0,14,0,0,0,0,3,1,0,0,0,0,0,4,2000,'{"max_trials":4}',1793492617500,1793492625500,NULL,NULL,1,'sgd',NULL,1,'[[1,0,0.54],[2,0,0.56]]');
INSERT INTO "studies" VALUES(29,1,'extended.kfac.confirm','train','{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["kfac"]}}',0,'random','{"version":1}','minimize',8798485704595656,4,NULL,3,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'allow',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','completed','max_trials',10,1.1000000000000005329e+00,'[]','','{}',4,4,0,0,14,0,0,0,0,3,1,0,0,0,0,0,4,2000,'{"max_trials":4}',1793492617500,1793492621500,NULL,NULL,1,'kfac',NULL,1,'[[1,0,0.5],[2,0,0.52]]');
INSERT INTO "studies" VALUES(30,1,'confirming.sgd.confirm','train','{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["sgd"]}}',0,'random','{"version":1}','minimize',8798485704595656,4,NULL,3,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'allow',0,NULL,'{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','active','max_trials',10,0.0,'[]','','{}',4,0,0,0,5,0,0,4,0,0,0,0,0,0,0,0,0,0,'{"max_trials":4}',1793492633500,NULL,NULL,NULL,2,'sgd',NULL,1,'[[1,0,0.54],[2,0,0.56]]');
INSERT INTO "studies" VALUES(31,1,'confirming.kfac.confirm','train','{"x":{"type":"float","low":0.0,"high":1.0},"rule":{"type":"categorical","choices":["kfac"]}}',0,'random','{"version":1}','minimize',8798485704595656,4,NULL,3,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'allow',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','active','max_trials',10,1.00000000000000044408e+00,'[]','','{}',4,3,0,0,11,0,0,1,0,3,0,0,0,0,0,0,3,1500,'{"max_trials":4}',1793492633500,NULL,NULL,NULL,2,'kfac',NULL,1,'[[1,0,0.5],[2,0,0.52]]');
INSERT INTO "studies" VALUES(32,1,'spends','train','{"x":{"type":"float","low":0.0,"high":1.0}}',0,'biased_random','{"version":1,"acceptance":{"name":"sharpening_rank","trials":10.0},"neighbours":1,"initial":8,"explore":0.02,"local":0.8,"pending":"ignore"}','minimize',1,3,NULL,3,NULL,5,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'forbid',0,'1.0','{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','completed','max_updates',10,8.00000000000000377475e-01,'[]','','{}',1,1,1,0,5,0,0,0,0,1,0,0,0,0,0,0,5,500,'{"max_trials":3,"max_updates":5}',1793492640500,1793492641250,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "studies" VALUES(33,1,'theirs','optuna','"open"',1,'random','{"version":1}','minimize',0,1,NULL,1,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'allow',0,NULL,'{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','active',NULL,10,0.0,'["optuna"]','Mirrors the study ''theirs'' of Optuna: every trial of it that has finished.','{"optuna_study":1}',4,4,0,4,5,0,0,0,0,0,2,1,1,0,0,0,0,0,'{}',1793492641500,NULL,NULL,1,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "studies" VALUES(34,1,'gone','optuna','"open"',1,'random','{"version":1}','minimize',0,1,NULL,1,NULL,NULL,NULL,NULL,NULL,NULL,'["error","out_of_memory","stalled","lost"]',1,'allow',0,NULL,'{"gpus":0,"gpu_memory_gb":0.0,"labels":{}}','stopped',NULL,10,0.0,'["optuna"]','Mirrors the study ''gone'' of Optuna: every trial of it that has finished.','{"optuna_study":3}',4,4,0,4,6,0,0,0,0,0,2,1,1,0,0,0,0,0,'{}',1793492644000,NULL,1793492645250,3,NULL,NULL,NULL,NULL,NULL);
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
INSERT INTO "trials" VALUES(38,13,0,'proposed',0,0,'{"x":0.608410404081,"rule":"kfac"}',NULL,'5ba373cc185c19e45cff1b8d3d31419be29e42fbc0f19d71958310b8c5887406',8318862701624966,'{"strategy":"random","watermark":0,"draw":"uniform","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.5,1,3,'2deebdb982df69213655a0fc714cc503',30000,1793492640250,'','{}',1793492610000,1793492610500);
INSERT INTO "trials" VALUES(39,13,1,'proposed',1,1,'{"x":0.732644401856,"rule":"kfac"}',NULL,'56f5a02c0bb2e08528c273faabe5933a55d914efb722678081ec3c3bcb518c42',5665615682036516,'{"strategy":"random","watermark":1,"draw":"uniform","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.51,1,3,'0a8ea2b7e58b37c15b819a001b50f1fa',30000,1793492641250,'','{}',1793492611000,1793492611500);
INSERT INTO "trials" VALUES(40,15,0,'proposed',0,0,'{"x":0.0788521491221,"rule":"kfac"}',NULL,'69bdccaccf728f9a9e51f3f0191e852897bfd76d8b4ddb64628234a165558334',2753010939881924,'{"strategy":"random","watermark":0,"draw":"uniform","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.52,1,3,'5c4236a61bf8d132edc6a7df4f236b4d',30000,1793492642250,'','{}',1793492612000,1793492612500);
INSERT INTO "trials" VALUES(41,15,1,'proposed',1,1,'{"x":0.0352876177133,"rule":"kfac"}',NULL,'6a3c0ba19f9e6612d1459dc53cdd3ea24b2b1fa7e20bc5dbbbd5faf424993723',2548429761654665,'{"strategy":"random","watermark":1,"draw":"uniform","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','diverged',NULL,NULL,1,3,'7ee18d65c9f4aca0bc0dd314b6aa9705',30000,1793492643250,'','{}',1793492613000,1793492613500);
INSERT INTO "trials" VALUES(42,12,0,'proposed',0,0,'{"x":0.608410404081,"rule":"sgd"}',NULL,'9a47a01ef0396f0c32d3367f7089d59cba3ea5997ed9f04787617cf720994c3b',8318862701624966,'{"strategy":"random","watermark":0,"draw":"uniform","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.54,1,3,'6dd92722812a50a76a71578550d138d1',30000,1793492644250,'','{}',1793492614000,1793492614500);
INSERT INTO "trials" VALUES(43,12,1,'proposed',1,1,'{"x":0.732644401856,"rule":"sgd"}',NULL,'5e175d0da308c3806246067c0f75a664f6ea0f79c899bc81d20c035cf6b71e42',5665615682036516,'{"strategy":"random","watermark":1,"draw":"uniform","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.55,1,3,'8249c1041504d40a8ee8680afd18ab34',30000,1793492645250,'','{}',1793492615000,1793492615500);
INSERT INTO "trials" VALUES(44,14,0,'proposed',0,0,'{"x":0.0788521491221,"rule":"sgd"}',NULL,'6c46acb2db2576141aad671e79e96257e1890e9a86be2f14040000698b215ad7',2753010939881924,'{"strategy":"random","watermark":0,"draw":"uniform","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.56,1,3,'b301ece846c174d90dcfc00a300babd8',30000,1793492646250,'','{}',1793492616000,1793492616500);
INSERT INTO "trials" VALUES(45,14,1,'proposed',1,1,'{"x":0.0352876177133,"rule":"sgd"}',NULL,'8cd50d98419cf6a8ec7705b8c05fc87d5b5a4cbacd42d329606b6e83ad1100d5',2548429761654665,'{"strategy":"random","watermark":1,"draw":"uniform","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','diverged',NULL,NULL,1,3,'220318e715076b753b4be0a35909796f',30000,1793492647250,'','{}',1793492617000,1793492617500);
INSERT INTO "trials" VALUES(46,28,0,'enqueued',NULL,NULL,'{"x":0.608410404081,"rule":"sgd"}',NULL,'97019abeb0fb65ed1a11ab076fabf6d64b8344105c964fec4103ed2d635032cd',1242151301170383,'{}','succeeded',NULL,0.62,1,3,'15c89de8821b2e7b695e587909e94a56',30000,1793492652250,'','{"replicate":1,"trial":0,"run":1}',1793492617500,1793492622500);
INSERT INTO "trials" VALUES(47,28,1,'enqueued',NULL,NULL,'{"x":0.608410404081,"rule":"sgd"}',NULL,'763fcceb2a2686f22bc0b8d831a02cc9e47d5f51c99e8e2dbff2550f791e1cf0',4079873400140406,'{}','succeeded',NULL,0.63,1,3,'4cad18b393876b7f4a6b316dd0dbae09',30000,1793492653250,'','{"replicate":1,"trial":0,"run":2}',1793492617500,1793492623500);
INSERT INTO "trials" VALUES(48,28,2,'enqueued',NULL,NULL,'{"x":0.0788521491221,"rule":"sgd"}',NULL,'ec8db325a2f3587faeaf63284c89dddfb09fb16d78533fd80c9043baf89c85ee',4200663245743404,'{}','succeeded',NULL,0.64,1,3,'a02a72a0da3e82909971256007c85dce',30000,1793492654250,'','{"replicate":2,"trial":0,"run":1}',1793492617500,1793492624500);
INSERT INTO "trials" VALUES(49,28,3,'enqueued',NULL,NULL,'{"x":0.0788521491221,"rule":"sgd"}',NULL,'3a46d3aebc053d7e9f971ab303853ae3f7c316110d9b0f2fd497329ed60a0278',5724829752407396,'{}','diverged',NULL,NULL,1,3,'ce73f7bff54d973805eea70f69088362',30000,1793492655250,'','{"replicate":2,"trial":0,"run":2}',1793492617500,1793492625500);
INSERT INTO "trials" VALUES(50,29,0,'enqueued',NULL,NULL,'{"x":0.608410404081,"rule":"kfac"}',NULL,'65d5cb449668ab917d9447bfe55a15b1a7e2d5c531c552edad9591f7083f87f4',1242151301170383,'{}','succeeded',NULL,0.58,1,3,'5f1447022cea71236574a926b3ba7845',30000,1793492648250,'','{"replicate":1,"trial":0,"run":1}',1793492617500,1793492618500);
INSERT INTO "trials" VALUES(51,29,1,'enqueued',NULL,NULL,'{"x":0.608410404081,"rule":"kfac"}',NULL,'14bd752752d631f5d5769effb4314cf2bd2c60075329d3ca815e4f696190faca',4079873400140406,'{}','succeeded',NULL,0.59,1,3,'f295db9e4f5f2109c7468c0af6f40545',30000,1793492649250,'','{"replicate":1,"trial":0,"run":2}',1793492617500,1793492619500);
INSERT INTO "trials" VALUES(52,29,2,'enqueued',NULL,NULL,'{"x":0.0788521491221,"rule":"kfac"}',NULL,'0b866fc634b05dc20d9982ea97cf5c91026ef6fb8318e4f9a9dd32c6abe151e2',4200663245743404,'{}','succeeded',NULL,0.6,1,3,'8f77698c0c263021bdb81c4bfcd9691d',30000,1793492650250,'','{"replicate":2,"trial":0,"run":1}',1793492617500,1793492620500);
INSERT INTO "trials" VALUES(53,29,3,'enqueued',NULL,NULL,'{"x":0.0788521491221,"rule":"kfac"}',NULL,'314a2e98871bbc9d7007b8ebfb8a82e87a8dab7c5a1c91dd761a1c4e7a7bcf1c',5724829752407396,'{}','diverged',NULL,NULL,1,3,'a99ee685dd8289bae611241207d37b4d',30000,1793492651250,'','{"replicate":2,"trial":0,"run":2}',1793492617500,1793492621500);
INSERT INTO "trials" VALUES(54,17,0,'proposed',0,0,'{"x":0.608410404081,"rule":"kfac"}',NULL,'5ba373cc185c19e45cff1b8d3d31419be29e42fbc0f19d71958310b8c5887406',8318862701624966,'{"strategy":"random","watermark":0,"draw":"uniform","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.5,1,3,'291f167df94acdc90d44bb95f655e3b6',30000,1793492656250,'','{}',1793492626000,1793492626500);
INSERT INTO "trials" VALUES(55,17,1,'proposed',1,1,'{"x":0.732644401856,"rule":"kfac"}',NULL,'56f5a02c0bb2e08528c273faabe5933a55d914efb722678081ec3c3bcb518c42',5665615682036516,'{"strategy":"random","watermark":1,"draw":"uniform","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.51,1,3,'1d6dcb425180d1953309f0c64e0fa52a',30000,1793492657250,'','{}',1793492627000,1793492627500);
INSERT INTO "trials" VALUES(56,19,0,'proposed',0,0,'{"x":0.0788521491221,"rule":"kfac"}',NULL,'69bdccaccf728f9a9e51f3f0191e852897bfd76d8b4ddb64628234a165558334',2753010939881924,'{"strategy":"random","watermark":0,"draw":"uniform","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.52,1,3,'578bb6b311091207b7b52be7d2db9b86',30000,1793492658250,'','{}',1793492628000,1793492628500);
INSERT INTO "trials" VALUES(57,19,1,'proposed',1,1,'{"x":0.0352876177133,"rule":"kfac"}',NULL,'6a3c0ba19f9e6612d1459dc53cdd3ea24b2b1fa7e20bc5dbbbd5faf424993723',2548429761654665,'{"strategy":"random","watermark":1,"draw":"uniform","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','diverged',NULL,NULL,1,3,'8d270d35bf6518a4b428c70aa10b3eff',30000,1793492659250,'','{}',1793492629000,1793492629500);
INSERT INTO "trials" VALUES(58,16,0,'proposed',0,0,'{"x":0.608410404081,"rule":"sgd"}',NULL,'9a47a01ef0396f0c32d3367f7089d59cba3ea5997ed9f04787617cf720994c3b',8318862701624966,'{"strategy":"random","watermark":0,"draw":"uniform","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.54,1,3,'edb3c6608193945c3e4ce08bb064b5d3',30000,1793492660250,'','{}',1793492630000,1793492630500);
INSERT INTO "trials" VALUES(59,16,1,'proposed',1,1,'{"x":0.732644401856,"rule":"sgd"}',NULL,'5e175d0da308c3806246067c0f75a664f6ea0f79c899bc81d20c035cf6b71e42',5665615682036516,'{"strategy":"random","watermark":1,"draw":"uniform","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.55,1,3,'6383e96701cb6ba3c8db0fae1662596c',30000,1793492661250,'','{}',1793492631000,1793492631500);
INSERT INTO "trials" VALUES(60,18,0,'proposed',0,0,'{"x":0.0788521491221,"rule":"sgd"}',NULL,'6c46acb2db2576141aad671e79e96257e1890e9a86be2f14040000698b215ad7',2753010939881924,'{"strategy":"random","watermark":0,"draw":"uniform","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.56,1,3,'73d2997f82ec88ff8a4da77f3b9b93a2',30000,1793492662250,'','{}',1793492632000,1793492632500);
INSERT INTO "trials" VALUES(61,18,1,'proposed',1,1,'{"x":0.0352876177133,"rule":"sgd"}',NULL,'8cd50d98419cf6a8ec7705b8c05fc87d5b5a4cbacd42d329606b6e83ad1100d5',2548429761654665,'{"strategy":"random","watermark":1,"draw":"uniform","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','diverged',NULL,NULL,1,3,'a2ad185779caa1b468c16af6bbf03dbf',30000,1793492663250,'','{}',1793492633000,1793492633500);
INSERT INTO "trials" VALUES(62,30,0,'enqueued',NULL,NULL,'{"x":0.608410404081,"rule":"sgd"}',NULL,'97019abeb0fb65ed1a11ab076fabf6d64b8344105c964fec4103ed2d635032cd',1242151301170383,'{}','queued',NULL,NULL,0,3,NULL,NULL,1793492633500,'','{"replicate":1,"trial":0,"run":1}',1793492633500,NULL);
INSERT INTO "trials" VALUES(63,30,1,'enqueued',NULL,NULL,'{"x":0.608410404081,"rule":"sgd"}',NULL,'763fcceb2a2686f22bc0b8d831a02cc9e47d5f51c99e8e2dbff2550f791e1cf0',4079873400140406,'{}','queued',NULL,NULL,0,3,NULL,NULL,1793492633500,'','{"replicate":1,"trial":0,"run":2}',1793492633500,NULL);
INSERT INTO "trials" VALUES(64,30,2,'enqueued',NULL,NULL,'{"x":0.0788521491221,"rule":"sgd"}',NULL,'ec8db325a2f3587faeaf63284c89dddfb09fb16d78533fd80c9043baf89c85ee',4200663245743404,'{}','queued',NULL,NULL,0,3,NULL,NULL,1793492633500,'','{"replicate":2,"trial":0,"run":1}',1793492633500,NULL);
INSERT INTO "trials" VALUES(65,30,3,'enqueued',NULL,NULL,'{"x":0.0788521491221,"rule":"sgd"}',NULL,'3a46d3aebc053d7e9f971ab303853ae3f7c316110d9b0f2fd497329ed60a0278',5724829752407396,'{}','queued',NULL,NULL,0,3,NULL,NULL,1793492633500,'','{"replicate":2,"trial":0,"run":2}',1793492633500,NULL);
INSERT INTO "trials" VALUES(66,31,0,'enqueued',NULL,NULL,'{"x":0.608410404081,"rule":"kfac"}',NULL,'65d5cb449668ab917d9447bfe55a15b1a7e2d5c531c552edad9591f7083f87f4',1242151301170383,'{}','succeeded',NULL,0.58,1,3,'5903c3417a1f439afb23bfc8e269e927',30000,1793492664250,'','{"replicate":1,"trial":0,"run":1}',1793492633500,1793492634500);
INSERT INTO "trials" VALUES(67,31,1,'enqueued',NULL,NULL,'{"x":0.608410404081,"rule":"kfac"}',NULL,'14bd752752d631f5d5769effb4314cf2bd2c60075329d3ca815e4f696190faca',4079873400140406,'{}','succeeded',NULL,0.59,1,3,'7de9fc10f73fc9cc212cab157d2a3b84',30000,1793492665250,'','{"replicate":1,"trial":0,"run":2}',1793492633500,1793492635500);
INSERT INTO "trials" VALUES(68,31,2,'enqueued',NULL,NULL,'{"x":0.0788521491221,"rule":"kfac"}',NULL,'0b866fc634b05dc20d9982ea97cf5c91026ef6fb8318e4f9a9dd32c6abe151e2',4200663245743404,'{}','succeeded',NULL,0.6,1,3,'02bae903d62f47c21c6a0dd820bcd672',30000,1793492666250,'','{"replicate":2,"trial":0,"run":1}',1793492633500,1793492636500);
INSERT INTO "trials" VALUES(69,31,3,'enqueued',NULL,NULL,'{"x":0.0788521491221,"rule":"kfac"}',NULL,'314a2e98871bbc9d7007b8ebfb8a82e87a8dab7c5a1c91dd761a1c4e7a7bcf1c',5724829752407396,'{}','queued',NULL,NULL,0,3,NULL,NULL,1793492633500,'','{"replicate":2,"trial":0,"run":2}',1793492633500,NULL);
INSERT INTO "trials" VALUES(70,21,0,'proposed',0,0,'{"x":0.608410404081,"rule":"kfac"}',NULL,'5ba373cc185c19e45cff1b8d3d31419be29e42fbc0f19d71958310b8c5887406',8318862701624966,'{"strategy":"random","watermark":0,"draw":"uniform","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.5,1,3,'7f0ef6f720f30e5ff4a8478139fed961',30000,1793492667250,'','{}',1793492637000,1793492637500);
INSERT INTO "trials" VALUES(71,21,1,'proposed',1,1,'{"x":0.732644401856,"rule":"kfac"}',NULL,'56f5a02c0bb2e08528c273faabe5933a55d914efb722678081ec3c3bcb518c42',5665615682036516,'{"strategy":"random","watermark":1,"draw":"uniform","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.51,1,3,'2ab01bce448a9b847b3802c2b1eca299',30000,1793492668250,'','{}',1793492638000,1793492638500);
INSERT INTO "trials" VALUES(72,23,0,'proposed',0,0,'{"x":0.0788521491221,"rule":"kfac"}',NULL,'69bdccaccf728f9a9e51f3f0191e852897bfd76d8b4ddb64628234a165558334',2753010939881924,'{"strategy":"random","watermark":0,"draw":"uniform","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.52,1,3,'f00a1189e206b1e6c6c83e99d29af76a',30000,1793492669250,'','{}',1793492639000,1793492639500);
INSERT INTO "trials" VALUES(73,32,0,'proposed',0,0,'{"x":0.813354060979}',NULL,'69924794c4ff764b71e49b59be3879fc0d97dc2efd8d87b7ccb805ed14fe85a7',5854950545185455,'{"strategy":"biased_random","watermark":0,"draw":"initial","refused":0,"last_refused":[],"forced":false,"nearest_trial":null,"nearest_is_pending":false,"distance":null,"estimate":null,"neighbourhood":1,"acceptance":1.0,"parent":null,"expected_share":null}','succeeded',NULL,0.4,1,3,'ab2330a83513a0e23dc60f00a27da1bd',30000,1793492671000,'','{}',1793492640750,1793492641250);
INSERT INTO "trials" VALUES(74,33,0,'imported',NULL,NULL,'{"x":0.5,"rule":"NaN"}','{"x":0.5,"rule":"NaN"}','10c089d8a13e4f52cff5a5697488f6008e45400926332c11c64b77671e1a3f8c',6067409321135427,'{}','diverged',NULL,NULL,0,1,NULL,NULL,1793492641750,'','{"optuna_number":2}',1793492641750,1793492641750);
INSERT INTO "trials" VALUES(75,33,1,'imported',NULL,NULL,'{}','{}','b407fb7b14169e13d4675c5538bcb02e5647955b99348f095775065e698cae65',8411718770426228,'{}','failed',NULL,NULL,0,1,NULL,NULL,1793492641750,'','{"optuna_number":4}',1793492641750,1793492641750);
INSERT INTO "trials" VALUES(76,33,2,'imported',NULL,NULL,'{}','{}','ce16a3676ab6009741a83cc4ad4d3a9765c7d2feab279c574c9452dc1f7d86b7',5177691448596831,'{}','pruned',NULL,NULL,0,1,NULL,NULL,1793492641750,'','{"optuna_number":5}',1793492641750,1793492641750);
INSERT INTO "trials" VALUES(77,33,3,'imported',NULL,NULL,'{"x":0.5,"rule":"NaN"}','{"x":0.5,"rule":"NaN"}','879df081a7fe8776f00065f73dac7059633074e11b081ae3d96f49ed0998f3b9',4180860179833327,'{}','diverged',NULL,NULL,0,1,NULL,NULL,1793492642250,'','{"optuna_number":0}',1793492642250,1793492642250);
INSERT INTO "trials" VALUES(78,34,0,'imported',NULL,NULL,'{"x":0.5,"rule":"NaN"}','{"x":0.5,"rule":"NaN"}','10c089d8a13e4f52cff5a5697488f6008e45400926332c11c64b77671e1a3f8c',6067409321135427,'{}','diverged',NULL,NULL,0,1,NULL,NULL,1793492644250,'','{"optuna_number":2}',1793492644250,1793492644250);
INSERT INTO "trials" VALUES(79,34,1,'imported',NULL,NULL,'{}','{}','b407fb7b14169e13d4675c5538bcb02e5647955b99348f095775065e698cae65',8411718770426228,'{}','failed',NULL,NULL,0,1,NULL,NULL,1793492644250,'','{"optuna_number":4}',1793492644250,1793492644250);
INSERT INTO "trials" VALUES(80,34,2,'imported',NULL,NULL,'{}','{}','ce16a3676ab6009741a83cc4ad4d3a9765c7d2feab279c574c9452dc1f7d86b7',5177691448596831,'{}','pruned',NULL,NULL,0,1,NULL,NULL,1793492644250,'','{"optuna_number":5}',1793492644250,1793492644250);
INSERT INTO "trials" VALUES(81,34,3,'imported',NULL,NULL,'{"x":0.5,"rule":"NaN"}','{"x":0.5,"rule":"NaN"}','879df081a7fe8776f00065f73dac7059633074e11b081ae3d96f49ed0998f3b9',4180860179833327,'{}','diverged',NULL,NULL,0,1,NULL,NULL,1793492644750,'','{"optuna_number":0}',1793492644750,1793492644750);
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
INSERT INTO "webhooks" VALUES(1,1,NULL,'http://127.0.0.1:9/hook','bc17bbe948a75834c18373f70431728d06501d7a135a54719ef384dd9a6e7785','[]',1,1,'connection refused',1793492701250,1793491203000,'anonymous');
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
INSERT INTO "sqlite_sequence" VALUES('studies',34);
INSERT INTO "sqlite_sequence" VALUES('comparisons',4);
INSERT INTO "sqlite_sequence" VALUES('optuna_studies',3);
INSERT INTO "sqlite_sequence" VALUES('optuna_trials',18);
CREATE INDEX attempts_under_way ON attempts (worker, trial_id) WHERE ended_at IS NULL;
CREATE INDEX optuna_trials_heard ON optuna_trials (study_id, heard_at) WHERE heard_at IS NOT NULL;
CREATE INDEX replies_by_age ON replies (created_at);
CREATE INDEX spaces_asked ON asked (study_id, seq) WHERE space IS NOT NULL;
CREATE INDEX studies_by_state ON studies (state);
CREATE INDEX studies_compared ON studies (comparison_id, around, state) WHERE comparison_id IS NOT NULL;
CREATE INDEX studies_listed ON studies (project_id, id) WHERE comparison_id IS NULL;
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
