"""Django: migrations there and back, constraints, queries, upserts, a paginator.

Connects as libpq's variables say.  SURFIDX_SETTINGS names a file of lines for the settings, those of
docs/integrations.md.
"""

import datetime
import os
import sys
import tempfile

import django
from django.conf import settings

where = tempfile.mkdtemp()
sys.path.insert(0, where)
os.makedirs(where + "/shop/migrations")
open(where + "/shop/__init__.py", "w").close()
open(where + "/shop/migrations/__init__.py", "w").close()

MODELS = """
from django.db import models

class Customer(models.Model):
    email = models.EmailField(%(email)s)
    name = models.CharField(max_length=100, db_index=True)

class Order(models.Model):
    customer = models.ForeignKey(Customer, models.CASCADE, related_name="orders")
    placed = models.DateTimeField(db_index=True)
    number = models.SlugField(max_length=40)
    total = models.DecimalField(max_digits=10, decimal_places=2%(total)s)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["customer", "number"], name="order_once")]
        indexes = [models.Index(fields=["customer", "-placed"], name="order_latest"),
                   models.Index(fields=["total"], condition=models.Q(total__gt=100), name="order_large")]
"""


def write_models(**kind):
    with open(where + "/shop/models.py", "w") as f:
        f.write(MODELS % kind)


write_models(email="unique=True", total="")
settings.configure(
    DATABASES={"default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": os.environ["PGDATABASE"], "USER": os.environ["PGUSER"],
        "HOST": os.environ["PGHOST"], "PORT": os.environ["PGPORT"],
    }},
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "django.contrib.sessions",
                    "shop"],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", USE_TZ=True, SECRET_KEY="secret",
)
django.setup()
if os.environ.get("SURFIDX_SETTINGS"):
    exec(open(os.environ["SURFIDX_SETTINGS"]).read())

from django.core.management import call_command
from django.core.paginator import Paginator
from django.db import IntegrityError, connection, transaction
from django.db.models import Count, Max, Sum

print("version:", django.get_version())
call_command("makemigrations", "shop", verbosity=0)
call_command("migrate", verbosity=0)
from shop.models import Customer, Order

start = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
customers = Customer.objects.bulk_create(
    Customer(email="c%d@example.org" % i, name="name %d" % (i % 20)) for i in range(200))
Order.objects.bulk_create(
    Order(customer=customers[i * 7 % 200], placed=start + datetime.timedelta(minutes=i),
          number="n%d" % i, total=i % 300) for i in range(4000))
try:
    with transaction.atomic():
        Customer.objects.create(email="c7@example.org", name="again")
    print("a second one")
except IntegrityError:
    print("unique")
print(Customer.objects.get_or_create(email="c7@example.org", defaults={"name": "x"})[1],
      Customer.objects.update_or_create(email="new@example.org", defaults={"name": "new"})[1])
Order.objects.bulk_create([Order(customer=customers[7], placed=start, number="n1", total=5)],
                          update_conflicts=True, unique_fields=["customer", "number"],
                          update_fields=["total"])
pages = Paginator(Order.objects.order_by("-placed", "id"), 50)
print(pages.count, pages.num_pages, [o.number for o in pages.page(70).object_list][:3])
print(list(Order.objects.values("customer__name").annotate(n=Count("id"), t=Sum("total"))
           .order_by("customer__name").values_list("n", "t"))[:4])
print(Order.objects.filter(total__gt=250, placed__gte=start + datetime.timedelta(days=1)).count(),
      Order.objects.aggregate(Max("placed"))["placed__max"].isoformat(),
      Customer.objects.filter(name__startswith="name 1").count())
customers[3].delete()
print(Order.objects.count())
# another column type, an index less, one more; then all back
write_models(email="max_length=300, db_index=True", total=", db_index=True")
for name in ("shop.models", "shop"):
    del sys.modules[name]
from django.apps import apps

apps.all_models["shop"].clear()
apps.clear_cache()
apps.app_configs["shop"].models_module = None
apps.app_configs["shop"].import_models()
call_command("makemigrations", "shop", verbosity=0)
call_command("migrate", verbosity=0)
call_command("makemigrations", "shop", "--check", "--dry-run", verbosity=0)
with connection.cursor() as cursor:
    cursor.execute("SELECT count(*) FROM pg_indexes WHERE tablename LIKE 'shop%'")
    print(cursor.fetchone()[0])
call_command("migrate", "shop", "0001", verbosity=0)
with connection.cursor() as cursor:
    cursor.execute("SELECT count(*), count(DISTINCT email) FROM shop_customer WHERE email < 'c5'")
    print(cursor.fetchone())
