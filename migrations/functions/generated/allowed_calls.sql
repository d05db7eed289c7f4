-- Written from host/guard/src/catalog.toml by `make reference`.
-- Calls and types that a condition may hold, and what calls weigh.
DELETE FROM wed.allowed_call;
DELETE FROM wed.allowed_type;
DELETE FROM wed.call_weight;
INSERT INTO wed.call_weight VALUES
  ('capped', 16, 16),
  ('compare', 0, 8),
  ('copy', 1, 1),
  ('extract', 1, 6),
  ('fold', 8, 8),
  ('join', 1, 96),
  ('make', 1, 96),
  ('narrow', 0, 0),
  ('parse', 192, 96);
INSERT INTO wed.allowed_type SELECT regexp_split_to_table(btrim($types$
  unknown bool bpchar bytea date daterange float4 float8 int2 int4 int4range int8 int8range interval json jsonb
  jsonpath numeric numrange text time timestamp timestamptz timetz tsrange tstzrange uuid varchar
$types$, E' \n'), '\s+');
INSERT INTO wed.allowed_call
SELECT p[1], string_to_array(p[2], ','), p[3]::boolean, p[4] FROM string_to_table($list$abs(float4)		f	
abs(float8)		f	
abs(int2)		f	
abs(int4)		f	
abs(int8)		f	
abs(numeric)		f	
acos(float8)		f	
age(timestamp timestamp)	,	f	
age(timestamp)		f	
age(timestamptz timestamptz)	,	f	
age(timestamptz)		f	
array_append(anycompatiblearray anycompatible)	,	f	
array_cat(anycompatiblearray anycompatiblearray)	,	f	
array_dims(anyarray)		f	
array_length(anyarray int4)	,	f	
array_lower(anyarray int4)	,	f	
array_ndims(anyarray)		f	
array_position(anycompatiblearray anycompatible int4)	,,	f	
array_position(anycompatiblearray anycompatible)	,	f	
array_positions(anycompatiblearray anycompatible)	,	f	
array_prepend(anycompatible anycompatiblearray)	,	f	
array_remove(anycompatiblearray anycompatible)	,	f	
array_replace(anycompatiblearray anycompatible anycompatible)	,,short	t	capped
array_to_json(anyarray)		f	join
array_to_string(anyarray text text)	,short,short	t	capped
array_to_string(anyarray text)	,short	t	capped
array_upper(anyarray int4)	,	f	
ascii(text)		f	
asin(float8)		f	
atan(float8)		f	
atan2(float8 float8)	,	f	
bit_length(bytea)		f	
bit_length(text)		f	
btrim(text text)	read,few	t	
btrim(text)		f	
cardinality(anyarray)		f	
cbrt(float8)		f	
ceil(float8)		f	
ceil(numeric)		f	
ceiling(float8)		f	
ceiling(numeric)		f	
char_length(bpchar)		f	
char_length(text)		f	
character_length(bpchar)		f	
character_length(text)		f	
chr(int4)		f	
concat(any)		f	join
concat_ws(text any)	,	f	join
cos(float8)		f	
cot(float8)		f	
date(timestamp)		f	
date(timestamptz)		f	
date_bin(interval timestamp timestamp)	,,	f	
date_bin(interval timestamptz timestamptz)	,,	f	
date_part(text date)	,	f	
date_part(text interval)	,	f	
date_part(text time)	,	f	
date_part(text timestamp)	,	f	
date_part(text timestamptz)	,	f	
date_part(text timetz)	,	f	
date_trunc(text interval)	,	f	
date_trunc(text timestamp)	,	f	
date_trunc(text timestamptz text)	,,zone	f	
date_trunc(text timestamptz)	,	f	
daterange(date date text)	,,	f	
daterange(date date)	,	f	
decode(text text)	,	f	fold
degrees(float8)		f	
div(numeric numeric)	digits,digits	t	
encode(bytea text)	,	f	fold
exp(float8)		f	
exp(numeric)	digits	t	
extract(text date)	,	f	
extract(text interval)	,	f	
extract(text time)	,	f	
extract(text timestamp)	,	f	
extract(text timestamptz)	,	f	
extract(text timetz)	,	f	
floor(float8)		f	
floor(numeric)		f	
format(text any)	format,	f	join
format(text)	format	f	join
gcd(int4 int4)	,	f	
gcd(int8 int8)	,	f	
initcap(text)		f	fold
int4range(int4 int4 text)	,,	f	
int4range(int4 int4)	,	f	
int8range(int8 int8 text)	,,	f	
int8range(int8 int8)	,	f	
isempty(anyrange)		f	
isfinite(date)		f	
isfinite(interval)		f	
isfinite(timestamp)		f	
isfinite(timestamptz)		f	
json_array_length(json)		f	
json_build_array()		f	join
json_build_array(any)		f	join
json_build_object()		f	join
json_build_object(any)		f	join
json_extract_path(json _text)	,	f	
json_extract_path_text(json _text)	,	f	extract
json_strip_nulls(json)		f	join
json_strip_nulls(json bool)	,	f	join
json_typeof(json)		f	
jsonb_array_length(jsonb)		f	
jsonb_build_array()		f	make
jsonb_build_array(any)		f	make
jsonb_build_object()		f	make
jsonb_build_object(any)		f	make
jsonb_contains(jsonb jsonb)	pair,pair	t	
jsonb_exists(jsonb text)	,	f	
jsonb_exists_all(jsonb _text)	read,short	t	
jsonb_exists_any(jsonb _text)	read,short	t	
jsonb_extract_path(jsonb _text)	,	f	
jsonb_extract_path_text(jsonb _text)	,	f	extract
jsonb_insert(jsonb _text jsonb)	,,	f	make
jsonb_insert(jsonb _text jsonb bool)	,,,	f	make
jsonb_object(_text _text)	,	f	make
jsonb_object(_text)		f	make
jsonb_path_exists(jsonb jsonpath)	read,path	t	
jsonb_path_exists(jsonb jsonpath jsonb)	read,path,	t	
jsonb_path_exists(jsonb jsonpath jsonb bool)	read,path,,	t	
jsonb_path_match(jsonb jsonpath)	read,path	t	
jsonb_path_match(jsonb jsonpath jsonb)	read,path,	t	
jsonb_path_match(jsonb jsonpath jsonb bool)	read,path,,	t	
jsonb_path_query_first(jsonb jsonpath)	read,path	t	
jsonb_path_query_first(jsonb jsonpath jsonb)	read,path,	t	
jsonb_path_query_first(jsonb jsonpath jsonb bool)	read,path,,	t	
jsonb_set(jsonb _text jsonb)	,,	f	make
jsonb_set(jsonb _text jsonb bool)	,,,	f	make
jsonb_strip_nulls(jsonb)		f	make
jsonb_strip_nulls(jsonb bool)	,	f	make
jsonb_typeof(jsonb)		f	
justify_days(interval)		f	
justify_hours(interval)		f	
justify_interval(interval)		f	
lcm(int4 int4)	,	f	
lcm(int8 int8)	,	f	
left(text int4)	,	f	
length(bpchar)		f	
length(bytea)		f	
length(text)		f	
like_escape(text text)	,	f	
ln(float8)		f	
ln(numeric)	digits	t	
log(float8)		f	
log(numeric numeric)	digits,digits	t	
log(numeric)	digits	t	
log10(float8)		f	
log10(numeric)	digits	t	
lower(anyrange)		f	
lower(text)		f	fold
lower_inc(anyrange)		f	
lower_inf(anyrange)		f	
lpad(text int4 text)	,small,short	t	
lpad(text int4)	,small	t	
ltrim(text text)	read,few	t	
ltrim(text)		f	
make_date(int4 int4 int4)	,,	f	
make_interval()		f	
make_interval(int4)		f	
make_interval(int4 int4)	,	f	
make_interval(int4 int4 int4)	,,	f	
make_interval(int4 int4 int4 int4)	,,,	f	
make_interval(int4 int4 int4 int4 int4)	,,,,	f	
make_interval(int4 int4 int4 int4 int4 int4)	,,,,,	f	
make_interval(int4 int4 int4 int4 int4 int4 float8)	,,,,,,	f	
make_time(int4 int4 float8)	,,	f	
make_timestamp(int4 int4 int4 int4 int4 float8)	,,,,,	f	
make_timestamptz(int4 int4 int4 int4 int4 float8 text)	,,,,,,zone	f	
make_timestamptz(int4 int4 int4 int4 int4 float8)	,,,,,	f	
md5(bytea)		f	fold
md5(text)		f	fold
min_scale(numeric)		f	
mod(int2 int2)	,	f	
mod(int4 int4)	,	f	
mod(int8 int8)	,	f	
mod(numeric numeric)	digits,digits	t	
now()		f	
num_nonnulls(any)		f	
num_nulls(any)		f	
numrange(numeric numeric text)	,,	f	
numrange(numeric numeric)	,	f	
octet_length(bpchar)		f	
octet_length(bytea)		f	
octet_length(text)		f	
overlaps(time interval time interval)	,,,	f	
overlaps(time interval time time)	,,,	f	
overlaps(time time time interval)	,,,	f	
overlaps(time time time time)	,,,	f	
overlaps(timestamp interval timestamp interval)	,,,	f	
overlaps(timestamp interval timestamp timestamp)	,,,	f	
overlaps(timestamp timestamp timestamp interval)	,,,	f	
overlaps(timestamp timestamp timestamp timestamp)	,,,	f	
overlaps(timestamptz interval timestamptz interval)	,,,	f	
overlaps(timestamptz interval timestamptz timestamptz)	,,,	f	
overlaps(timestamptz timestamptz timestamptz interval)	,,,	f	
overlaps(timestamptz timestamptz timestamptz timestamptz)	,,,	f	
overlaps(timetz timetz timetz timetz)	,,,	f	
overlay(text text int4 int4)	,,,	f	
overlay(text text int4)	,,	f	
pi()		f	
position(text text)	read,short	t	
pow(float8 float8)	,	f	
pow(numeric numeric)	digits,digits	t	
power(float8 float8)	,	f	
power(numeric numeric)	digits,digits	t	
radians(float8)		f	
range_merge(anyrange anyrange)	,	f	
regexp_count(text text)	often,pattern	t	
regexp_instr(text text)	matched,pattern	t	
regexp_like(text text text)	matched,pattern,flags	t	
regexp_like(text text)	matched,pattern	t	
regexp_match(text text text)	matched,pattern,flags	t	
regexp_match(text text)	matched,pattern	t	
regexp_replace(text text text text)	often,pattern,short,flags	t	
regexp_replace(text text text)	matched,pattern,short	t	
regexp_split_to_array(text text text)	often,pattern,flags	t	
regexp_split_to_array(text text)	often,pattern	t	
regexp_substr(text text)	matched,pattern	t	
repeat(text int4)	,small	t	
replace(text text text)	read,short,short	t	capped
reverse(text)		f	fold
right(text int4)	,	f	
round(float8)		f	
round(numeric int4)	,	f	
round(numeric)		f	
rpad(text int4 text)	,small,short	t	
rpad(text int4)	,small	t	
rtrim(text text)	read,few	t	
rtrim(text)		f	
scale(numeric)		f	
sha224(bytea)		f	fold
sha256(bytea)		f	fold
sha384(bytea)		f	fold
sha512(bytea)		f	fold
sign(float8)		f	
sign(numeric)		f	
similar_to_escape(text)	pattern	f	
sin(float8)		f	
split_part(text text int4)	read,short,	t	
sqrt(float8)		f	
sqrt(numeric)	digits	t	
starts_with(text text)	,	f	
statement_timestamp()		f	
string_to_array(text text text)	read,short,short	t	parse
string_to_array(text text)	read,short	t	parse
strpos(text text)	read,short	t	
substr(bytea int4 int4)	,,	f	
substr(bytea int4)	,	f	
substr(text int4 int4)	,,	f	
substr(text int4)	,	f	
substring(bytea int4 int4)	,,	f	
substring(bytea int4)	,	f	
substring(text int4 int4)	,,	f	
substring(text int4)	,	f	
substring(text text)	matched,pattern	t	
tan(float8)		f	
timezone(interval timestamp)	,	f	
timezone(interval timestamptz)	,	f	
timezone(interval timetz)	,	f	
timezone(text timestamp)	zone,	f	
timezone(text timestamptz)	zone,	f	
timezone(text timetz)	zone,	f	
timezone(timestamp)		f	
timezone(timestamptz)		f	
timezone(timetz)		f	
to_char(float4 text)	,	f	narrow
to_char(float8 text)	,	f	narrow
to_char(int4 text)	,	f	narrow
to_char(int8 text)	,	f	narrow
to_char(interval text)	,	f	narrow
to_char(numeric text)	,	f	narrow
to_char(timestamp text)	,	f	narrow
to_char(timestamptz text)	,	f	narrow
to_date(text text)	,	f	
to_hex(int4)		f	
to_hex(int8)		f	
to_json(anyelement)		f	join
to_jsonb(anyelement)		f	make
to_number(text text)	,	f	
to_timestamp(float8)		f	
to_timestamp(text text)	,	f	
transaction_timestamp()		f	
translate(text text text)	read,few,short	t	fold
trim_array(anyarray int4)	,	f	
trim_scale(numeric)		f	
trunc(float8)		f	
trunc(numeric int4)	,	f	
trunc(numeric)		f	
tsrange(timestamp timestamp text)	,,	f	
tsrange(timestamp timestamp)	,	f	
tstzrange(timestamptz timestamptz text)	,,	f	
tstzrange(timestamptz timestamptz)	,	f	
upper(anyrange)		f	
upper(text)		f	fold
upper_inc(anyrange)		f	
upper_inf(anyrange)		f	
width_bucket(anycompatible anycompatiblearray)	,	f	
width_bucket(float8 float8 float8 int4)	,,,	f	
width_bucket(numeric numeric numeric int4)	,,,	f	
!~(bpchar text)	matched,pattern	t	
!~(text text)	matched,pattern	t	
!~*(bpchar text)	matched,pattern	t	
!~*(text text)	matched,pattern	t	
!~~(bpchar text)	read,short	t	
!~~(text text)	read,short	t	
!~~*(bpchar text)	read,short	t	fold
!~~*(text text)	read,short	t	fold
#(int2 int2)	,	f	
#(int4 int4)	,	f	
#(int8 int8)	,	f	
#-(jsonb _text)	,	f	make
#>(json _text)	,	f	
#>(jsonb _text)	,	f	
#>>(json _text)	,	f	extract
#>>(jsonb _text)	,	f	extract
%(int2 int2)	,	f	
%(int4 int4)	,	f	
%(int8 int8)	,	f	
%(numeric numeric)	digits,digits	t	
&(int2 int2)	,	f	
&(int4 int4)	,	f	
&(int8 int8)	,	f	
&&(anyarray anyarray)	pair,pair	t	
&&(anyrange anyrange)	,	f	
*(float4 float4)	,	f	
*(float4 float8)	,	f	
*(float8 float4)	,	f	
*(float8 float8)	,	f	
*(float8 interval)	,	f	
*(int2 int2)	,	f	
*(int2 int4)	,	f	
*(int2 int8)	,	f	
*(int4 int2)	,	f	
*(int4 int4)	,	f	
*(int4 int8)	,	f	
*(int8 int2)	,	f	
*(int8 int4)	,	f	
*(int8 int8)	,	f	
*(interval float8)	,	f	
*(numeric numeric)	digits,digits	t	
*(anyrange anyrange)	,	f	
+(float4)		f	
+(float8)		f	
+(int2)		f	
+(int4)		f	
+(int8)		f	
+(numeric)		f	
+(date int4)	,	f	
+(date interval)	,	f	
+(date time)	,	f	
+(date timetz)	,	f	
+(float4 float4)	,	f	
+(float4 float8)	,	f	
+(float8 float4)	,	f	
+(float8 float8)	,	f	
+(int2 int2)	,	f	
+(int2 int4)	,	f	
+(int2 int8)	,	f	
+(int4 date)	,	f	
+(int4 int2)	,	f	
+(int4 int4)	,	f	
+(int4 int8)	,	f	
+(int8 int2)	,	f	
+(int8 int4)	,	f	
+(int8 int8)	,	f	
+(interval date)	,	f	
+(interval interval)	,	f	
+(interval time)	,	f	
+(interval timestamp)	,	f	
+(interval timestamptz)	,	f	
+(interval timetz)	,	f	
+(numeric numeric)	,	f	
+(time date)	,	f	
+(time interval)	,	f	
+(timestamp interval)	,	f	
+(timestamptz interval)	,	f	
+(timetz date)	,	f	
+(timetz interval)	,	f	
+(anyrange anyrange)	,	f	
-(float4)		f	
-(float8)		f	
-(int2)		f	
-(int4)		f	
-(int8)		f	
-(interval)		f	
-(numeric)		f	
-(date date)	,	f	
-(date int4)	,	f	
-(date interval)	,	f	
-(float4 float4)	,	f	
-(float4 float8)	,	f	
-(float8 float4)	,	f	
-(float8 float8)	,	f	
-(int2 int2)	,	f	
-(int2 int4)	,	f	
-(int2 int8)	,	f	
-(int4 int2)	,	f	
-(int4 int4)	,	f	
-(int4 int8)	,	f	
-(int8 int2)	,	f	
-(int8 int4)	,	f	
-(int8 int8)	,	f	
-(interval interval)	,	f	
-(jsonb _text)	,short	t	make
-(jsonb int4)	,	f	make
-(jsonb text)	,	f	make
-(numeric numeric)	,	f	
-(time interval)	,	f	
-(time time)	,	f	
-(timestamp interval)	,	f	
-(timestamp timestamp)	,	f	
-(timestamptz interval)	,	f	
-(timestamptz timestamptz)	,	f	
-(timetz interval)	,	f	
-(anyrange anyrange)	,	f	
->(json int4)	,	f	
->(json text)	,	f	
->(jsonb int4)	,	f	
->(jsonb text)	,	f	
->>(json int4)	,	f	extract
->>(json text)	,	f	extract
->>(jsonb int4)	,	f	extract
->>(jsonb text)	,	f	extract
-|-(anyrange anyrange)	,	f	
/(float4 float4)	,	f	
/(float4 float8)	,	f	
/(float8 float4)	,	f	
/(float8 float8)	,	f	
/(int2 int2)	,	f	
/(int2 int4)	,	f	
/(int2 int8)	,	f	
/(int4 int2)	,	f	
/(int4 int4)	,	f	
/(int4 int8)	,	f	
/(int8 int2)	,	f	
/(int8 int4)	,	f	
/(int8 int8)	,	f	
/(interval float8)	,	f	
/(numeric numeric)	digits,digits	t	
<(anyarray anyarray)	,	f	compare
<(bool bool)	,	f	
<(bpchar bpchar)	,	f	
<(bytea bytea)	,	f	
<(date date)	,	f	
<(date timestamp)	,	f	
<(date timestamptz)	,	f	
<(float4 float4)	,	f	
<(float4 float8)	,	f	
<(float8 float4)	,	f	
<(float8 float8)	,	f	
<(int2 int2)	,	f	
<(int2 int4)	,	f	
<(int2 int8)	,	f	
<(int4 int2)	,	f	
<(int4 int4)	,	f	
<(int4 int8)	,	f	
<(int8 int2)	,	f	
<(int8 int4)	,	f	
<(int8 int8)	,	f	
<(interval interval)	,	f	
<(jsonb jsonb)	,	f	compare
<(numeric numeric)	,	f	
<(text text)	,	f	
<(time time)	,	f	
<(timestamp date)	,	f	
<(timestamp timestamp)	,	f	
<(timestamp timestamptz)	,	f	
<(timestamptz date)	,	f	
<(timestamptz timestamp)	,	f	
<(timestamptz timestamptz)	,	f	
<(timetz timetz)	,	f	
<(uuid uuid)	,	f	
<(anyrange anyrange)	,	f	
<<(int2 int4)	,	f	
<<(int4 int4)	,	f	
<<(int8 int4)	,	f	
<=(anyarray anyarray)	,	f	compare
<=(bool bool)	,	f	
<=(bpchar bpchar)	,	f	
<=(bytea bytea)	,	f	
<=(date date)	,	f	
<=(date timestamp)	,	f	
<=(date timestamptz)	,	f	
<=(float4 float4)	,	f	
<=(float4 float8)	,	f	
<=(float8 float4)	,	f	
<=(float8 float8)	,	f	
<=(int2 int2)	,	f	
<=(int2 int4)	,	f	
<=(int2 int8)	,	f	
<=(int4 int2)	,	f	
<=(int4 int4)	,	f	
<=(int4 int8)	,	f	
<=(int8 int2)	,	f	
<=(int8 int4)	,	f	
<=(int8 int8)	,	f	
<=(interval interval)	,	f	
<=(jsonb jsonb)	,	f	compare
<=(numeric numeric)	,	f	
<=(text text)	,	f	
<=(time time)	,	f	
<=(timestamp date)	,	f	
<=(timestamp timestamp)	,	f	
<=(timestamp timestamptz)	,	f	
<=(timestamptz date)	,	f	
<=(timestamptz timestamp)	,	f	
<=(timestamptz timestamptz)	,	f	
<=(timetz timetz)	,	f	
<=(uuid uuid)	,	f	
<=(anyrange anyrange)	,	f	
<>(anyarray anyarray)	,	f	compare
<>(bool bool)	,	f	
<>(bpchar bpchar)	,	f	
<>(bytea bytea)	,	f	
<>(date date)	,	f	
<>(date timestamp)	,	f	
<>(date timestamptz)	,	f	
<>(float4 float4)	,	f	
<>(float4 float8)	,	f	
<>(float8 float4)	,	f	
<>(float8 float8)	,	f	
<>(int2 int2)	,	f	
<>(int2 int4)	,	f	
<>(int2 int8)	,	f	
<>(int4 int2)	,	f	
<>(int4 int4)	,	f	
<>(int4 int8)	,	f	
<>(int8 int2)	,	f	
<>(int8 int4)	,	f	
<>(int8 int8)	,	f	
<>(interval interval)	,	f	
<>(jsonb jsonb)	,	f	compare
<>(numeric numeric)	,	f	
<>(text text)	,	f	
<>(time time)	,	f	
<>(timestamp date)	,	f	
<>(timestamp timestamp)	,	f	
<>(timestamp timestamptz)	,	f	
<>(timestamptz date)	,	f	
<>(timestamptz timestamp)	,	f	
<>(timestamptz timestamptz)	,	f	
<>(timetz timetz)	,	f	
<>(uuid uuid)	,	f	
<>(anyrange anyrange)	,	f	
<@(anyarray anyarray)	pair,pair	t	
<@(jsonb jsonb)	pair,pair	t	
<@(anyelement anyrange)	,	f	
<@(anyrange anyrange)	,	f	
=(anyarray anyarray)	,	f	compare
=(bool bool)	,	f	
=(bpchar bpchar)	,	f	
=(bytea bytea)	,	f	
=(date date)	,	f	
=(date timestamp)	,	f	
=(date timestamptz)	,	f	
=(float4 float4)	,	f	
=(float4 float8)	,	f	
=(float8 float4)	,	f	
=(float8 float8)	,	f	
=(int2 int2)	,	f	
=(int2 int4)	,	f	
=(int2 int8)	,	f	
=(int4 int2)	,	f	
=(int4 int4)	,	f	
=(int4 int8)	,	f	
=(int8 int2)	,	f	
=(int8 int4)	,	f	
=(int8 int8)	,	f	
=(interval interval)	,	f	
=(jsonb jsonb)	,	f	compare
=(numeric numeric)	,	f	
=(text text)	,	f	
=(time time)	,	f	
=(timestamp date)	,	f	
=(timestamp timestamp)	,	f	
=(timestamp timestamptz)	,	f	
=(timestamptz date)	,	f	
=(timestamptz timestamp)	,	f	
=(timestamptz timestamptz)	,	f	
=(timetz timetz)	,	f	
=(uuid uuid)	,	f	
=(anyrange anyrange)	,	f	
>(anyarray anyarray)	,	f	compare
>(bool bool)	,	f	
>(bpchar bpchar)	,	f	
>(bytea bytea)	,	f	
>(date date)	,	f	
>(date timestamp)	,	f	
>(date timestamptz)	,	f	
>(float4 float4)	,	f	
>(float4 float8)	,	f	
>(float8 float4)	,	f	
>(float8 float8)	,	f	
>(int2 int2)	,	f	
>(int2 int4)	,	f	
>(int2 int8)	,	f	
>(int4 int2)	,	f	
>(int4 int4)	,	f	
>(int4 int8)	,	f	
>(int8 int2)	,	f	
>(int8 int4)	,	f	
>(int8 int8)	,	f	
>(interval interval)	,	f	
>(jsonb jsonb)	,	f	compare
>(numeric numeric)	,	f	
>(text text)	,	f	
>(time time)	,	f	
>(timestamp date)	,	f	
>(timestamp timestamp)	,	f	
>(timestamp timestamptz)	,	f	
>(timestamptz date)	,	f	
>(timestamptz timestamp)	,	f	
>(timestamptz timestamptz)	,	f	
>(timetz timetz)	,	f	
>(uuid uuid)	,	f	
>(anyrange anyrange)	,	f	
>=(anyarray anyarray)	,	f	compare
>=(bool bool)	,	f	
>=(bpchar bpchar)	,	f	
>=(bytea bytea)	,	f	
>=(date date)	,	f	
>=(date timestamp)	,	f	
>=(date timestamptz)	,	f	
>=(float4 float4)	,	f	
>=(float4 float8)	,	f	
>=(float8 float4)	,	f	
>=(float8 float8)	,	f	
>=(int2 int2)	,	f	
>=(int2 int4)	,	f	
>=(int2 int8)	,	f	
>=(int4 int2)	,	f	
>=(int4 int4)	,	f	
>=(int4 int8)	,	f	
>=(int8 int2)	,	f	
>=(int8 int4)	,	f	
>=(int8 int8)	,	f	
>=(interval interval)	,	f	
>=(jsonb jsonb)	,	f	compare
>=(numeric numeric)	,	f	
>=(text text)	,	f	
>=(time time)	,	f	
>=(timestamp date)	,	f	
>=(timestamp timestamp)	,	f	
>=(timestamp timestamptz)	,	f	
>=(timestamptz date)	,	f	
>=(timestamptz timestamp)	,	f	
>=(timestamptz timestamptz)	,	f	
>=(timetz timetz)	,	f	
>=(uuid uuid)	,	f	
>=(anyrange anyrange)	,	f	
>>(int2 int4)	,	f	
>>(int4 int4)	,	f	
>>(int8 int4)	,	f	
?(jsonb text)	,	f	
?&(jsonb _text)	read,short	t	
?|(jsonb _text)	read,short	t	
@(float4)		f	
@(float8)		f	
@(int2)		f	
@(int4)		f	
@(int8)		f	
@(numeric)		f	
@>(anyarray anyarray)	pair,pair	t	
@>(jsonb jsonb)	pair,pair	t	
@>(anyrange anyelement)	,	f	
@>(anyrange anyrange)	,	f	
@?(jsonb jsonpath)	read,path	t	
@@(jsonb jsonpath)	read,path	t	
^(float8 float8)	,	f	
^(numeric numeric)	digits,digits	t	
^@(text text)	,	f	
|(int2 int2)	,	f	
|(int4 int4)	,	f	
|(int8 int8)	,	f	
|/(float8)		f	
||(anycompatible anycompatiblearray)	,	f	
||(anycompatiblearray anycompatible)	,	f	
||(anycompatiblearray anycompatiblearray)	,	f	
||(anynonarray text)	,	f	join
||(bytea bytea)	,	f	
||(jsonb jsonb)	,	f	make
||(text anynonarray)	,	f	join
||(text text)	,	f	join
||/(float8)		f	
~(int2)		f	
~(int4)		f	
~(int8)		f	
~(bpchar text)	matched,pattern	t	
~(text text)	matched,pattern	t	
~*(bpchar text)	matched,pattern	t	
~*(text text)	matched,pattern	t	
~~(bpchar text)	read,short	t	
~~(text text)	read,short	t	
~~*(bpchar text)	read,short	t	fold
~~*(text text)	read,short	t	fold$list$, E'\n') l, string_to_array(l, E'\t') p;
